internal import Glibc
internal import Lifecycle
internal import SessionClient
internal import Wire

/// Files that come with a request.
enum Attachments {
    /// Reads the files. Text must be UTF-8; all together must keep the limit.
    static func read(_ paths: [String]) async throws -> [NewRequest.Attachment] {
        var left = Limits.attachments
        var files: [NewRequest.Attachment] = []
        for path in paths {
            let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw UsageError("cannot read \(path): \(String(cString: strerror(errno)))") }
            defer { if descriptor != 0 { close(descriptor) } }
            guard let bytes = try await readAll(descriptor, named: path, limit: left) else {
                throw UsageError(
                    "the files have more than \(Limits.attachments) bytes (\(Limits.attachments / 1_048_576) MB) in "
                        + "all, which is the limit: \(path) is too much"
                )
            }
            left -= bytes.count
            let name = path == "-" ? "stdin" : String(path.split(separator: "/").last ?? "file")
            let isUTF8 = String(validating: bytes, as: UTF8.self) != nil
            let mediaType = mediaType(name, looksLikeText: isUTF8 && !bytes.contains(0))
            if mediaType.hasPrefix("text/") && !isUTF8 {
                throw UsageError("\(path) is not valid UTF-8: convert it first, as with `iconv -f GB18030 -t UTF-8`")
            }
            files.append(NewRequest.Attachment(name: name, mediaType: mediaType, data: bytes))
        }
        return files
    }

    /// What somebody sent or redirected to standard input, if that is a pipe or a file that has something. A terminal,
    /// a socket and `/dev/null` are there without anybody meaning them.
    static func piped() async throws -> [NewRequest.Attachment] {
        var information = stat()
        guard fstat(0, &information) == 0, [S_IFIFO, S_IFREG].contains(information.st_mode & S_IFMT) else { return [] }
        // A pipe may be of a program that never says anything and never closes it, as many that start others leave it.
        guard await speaks(0, within: patience) else {
            printError(
                "skillbus: nothing came on standard input within \(patience / 1000) s: going on without it "
                    + "(--file - waits for it, < /dev/null does not)"
            )
            return []
        }
        return try await read(["-"]).filter { !$0.data.isEmpty }
    }

    /// How long a pipe may be silent, in milliseconds.
    private static let patience: Int32 = 3000

    /// Whether something can be read in time, be it the end.
    private static func speaks(_ descriptor: Int32, within milliseconds: Int32) async -> Bool {
        await withCheckedContinuation { continuation in
            startThread(named: "listen") {
                var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                continuation.resume(returning: poll(&polled, 1, milliseconds) != 0)
            }
        }
    }

    /// By the name's extension; what has none that is known counts as text if it looks like it.
    static func mediaType(_ name: String, looksLikeText: Bool) -> String {
        let fallback = looksLikeText ? "text/plain" : "application/octet-stream"
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return fallback }
        return types[name[name.index(after: dot)...].lowercased()] ?? fallback
    }

    private static let types: [String: String] = [
        "txt": "text/plain", "text": "text/plain", "log": "text/plain", "md": "text/markdown",
        "markdown": "text/markdown", "html": "text/html", "htm": "text/html", "csv": "text/csv",
        "tsv": "text/tab-separated-values", "xml": "application/xml", "json": "application/json",
        "jsonl": "application/x-ndjson", "yaml": "application/yaml", "yml": "application/yaml",
        "pdf": "application/pdf", "zip": "application/zip", "gz": "application/gzip",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "epub": "application/epub+zip", "rtf": "application/rtf",
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "svg": "image/svg+xml", "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff",
        "heic": "image/heic", "avif": "image/avif",
        "mp3": "audio/mpeg", "wav": "audio/wav", "flac": "audio/flac", "ogg": "audio/ogg", "opus": "audio/opus",
        "m4a": "audio/mp4", "aac": "audio/aac", "mp4": "video/mp4", "webm": "video/webm", "mov": "video/quicktime",
    ]
}

/// Reads a descriptor to its end, on a thread of its own; nil when there is more than the limit.
func readAll(_ descriptor: Int32, named name: String, limit: Int) async throws -> [UInt8]? {
    let result: Result<[UInt8]?, UsageError> = await withCheckedContinuation { continuation in
        startThread(named: "read") {
            var all: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else {
                    let reason = String(cString: strerror(errno))
                    return continuation.resume(returning: .failure(UsageError("cannot read \(name): \(reason)")))
                }
                if count == 0 { return continuation.resume(returning: .success(all)) }
                all.append(contentsOf: buffer[..<count])
                if all.count > limit { return continuation.resume(returning: .success(nil)) }
            }
        }
    }
    return try result.get()
}
