internal import CLinux
internal import Glibc

/// A file that may be a document.
struct DocumentFile {
    var path: String
    var size: Int
    /// Nanoseconds since 1970.
    var modified: Int

    /// Larger files are no documents to read through.
    static let largest = 64 << 20

    enum Kind {
        case plain
        case markdown
        case html
        case pdf
    }

    private static let kinds: [String: Kind] = [
        "txt": .plain, "text": .plain, "rst": .plain, "org": .plain, "adoc": .plain, "tex": .plain, "md": .markdown,
        "markdown": .markdown, "mdx": .markdown, "html": .html, "htm": .html, "xhtml": .html, "pdf": .pdf,
    ]

    static func kind(of path: String) -> Kind? {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        return kinds[name[name.index(after: dot)...].lowercased()]
    }

    /// The file's name without folder and ending.
    private var name: String {
        let name = path.split(separator: "/").last ?? ""
        let stem = name.lastIndex(of: ".").map { name[..<$0] } ?? name
        return String(stem)
    }

    struct Unreadable: Error {
        var reason: String
    }

    /// Every document under a folder, in the order of their paths. Hidden files and folders and symbolic links are left
    /// out.
    static func all(in folder: String) throws(IndexError) -> (
        files: [DocumentFile], skipped: [DocumentIndex.Report.Skipped]
    ) {
        var files: [DocumentFile] = []
        var skipped: [DocumentIndex.Report.Skipped] = []
        var folders = [folder]
        while let next = folders.popLast() {
            guard let directory = opendir(next) else {
                let reason = String(cString: strerror(errno))
                if next == folder { throw .folder(path: folder, reason: reason) }
                skipped.append(.init(path: next, reason: reason))
                continue
            }
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name.hasPrefix(".") || name == "node_modules" { continue }
                let path = next == "/" ? "/\(name)" : "\(next)/\(name)"
                var status = stat()
                guard lstat(path, &status) == 0 else { continue }
                let type = status.st_mode & S_IFMT
                if type == S_IFDIR {
                    folders.append(path)
                } else if type == S_IFREG, kind(of: path) != nil {
                    let modified = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
                    files.append(DocumentFile(path: path, size: Int(status.st_size), modified: modified))
                }
            }
        }
        files.sort { $0.path < $1.path }
        return (files, skipped)
    }

    /// The text of the file.
    func read() throws(Unreadable) -> DocumentText {
        guard size <= Self.largest else { throw Unreadable(reason: "larger than \(Self.largest >> 20) MB") }
        switch Self.kind(of: path) {
        case .pdf:
            let bytes = try PDFText.read(path)
            return .plain(String(decoding: bytes, as: UTF8.self), title: name)
        case .markdown: return .markdown(try text(), title: name)
        case .html: return .html(try text(), title: name)
        case .plain: return .plain(try text(), title: name)
        case nil: throw Unreadable(reason: "not a kind of document that is read")
        }
    }

    private func text() throws(Unreadable) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Unreadable(reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        guard let bytes = FileBytes.read(descriptor, most: Self.largest) else {
            throw Unreadable(reason: String(cString: strerror(errno)))
        }
        guard let text = FileBytes.decode(bytes) else {
            throw Unreadable(reason: "not text in UTF-8, UTF-16 or GB 18030")
        }
        return text
    }
}

/// Bytes of files, and what text they are.
enum FileBytes {
    /// Everything until the end, or so much of it; nil if reading fails.
    static func read(_ descriptor: Int32, most: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= most {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                return nil
            }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// UTF-8, UTF-16 with a byte order mark, or GB 18030; nil if it is none of them.
    static func decode(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xFF, 0xFE]) { return utf16(bytes) { UInt16($0) | UInt16($1) << 8 } }
        if bytes.starts(with: [0xFE, 0xFF]) { return utf16(bytes) { UInt16($0) << 8 | UInt16($1) } }
        guard !bytes.contains(0) else { return nil }
        let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        return String(validating: content, as: UTF8.self) ?? converted(bytes, from: "GB18030")
    }

    private static func utf16(_ bytes: [UInt8], _ unit: (UInt8, UInt8) -> UInt16) -> String {
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { unit(bytes[$0], bytes[$0 + 1]) }
        return String(decoding: units, as: UTF16.self)
    }

    private static func converted(_ bytes: [UInt8], from encoding: String) -> String? {
        let converter = iconv_open("UTF-8", encoding)
        guard converter != iconv_t(bitPattern: -1) else { return nil }
        defer { iconv_close(converter) }
        var source = bytes.map { CChar(bitPattern: $0) }
        var target = [CChar](repeating: 0, count: bytes.count * 3 + 16)
        let written = source.withUnsafeMutableBufferPointer { source in
            target.withUnsafeMutableBufferPointer { target -> Int? in
                var input = source.baseAddress
                var inputLeft = source.count
                var output = target.baseAddress
                var outputLeft = target.count
                guard iconv(converter, &input, &inputLeft, &output, &outputLeft) != -1, inputLeft == 0 else {
                    return nil
                }
                return target.count - outputLeft
            }
        }
        guard let written else { return nil }
        return String(decoding: target[..<written].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
