public import Wire

/// What one execution works on.
public struct SkillInput: Sendable {
    /// A file that came with the request.
    public struct Attachment: Sendable, Hashable {
        /// File name, without folders.
        public var name: String
        /// Media type.
        public var mediaType: String
        /// Content.
        public var data: [UInt8]

        /// Makes an attachment.
        public init(name: String, mediaType: String, data: [UInt8]) {
            self.name = name
            self.mediaType = mediaType
            self.data = data
        }

        /// What is said of it where its content goes by itself.
        var described: JobInput.Attachment {
            JobInput.Attachment(name: name, mediaType: mediaType, bytes: data.count)
        }

        /// Whether the content is UTF-8 text. Nothing is copied for the answer.
        public var isText: Bool {
            let isNamedText = mediaType.hasPrefix("text/") || mediaType.hasSuffix("json") || mediaType.hasSuffix("xml")
            guard isNamedText || mediaType == "application/octet-stream" else { return false }
            return !data.contains(0) && (try? UTF8Span(validating: data.span)) != nil
        }

        /// The content as text, if it is UTF-8 text; a byte order mark is left out.
        public var text: String? {
            guard isText else { return nil }
            return String(decoding: data.starts(with: [0xEF, 0xBB, 0xBF]) ? data[3...] : data[...], as: UTF8.self)
        }
    }

    /// What the user wrote, whole.
    public var text: String
    /// The part of `text` that is to be worked on, where the router told it from the instruction.
    public var separatedMaterial: String?
    /// Files that came with it.
    public var attachments: [Attachment]
    /// The last turns of the session, oldest first.
    public var history: [JobInput.Turn]
    /// What was said before those turns, in short; nil where there was nothing, or nobody has summarised it.
    public var summary: String?
    /// Outputs of the steps that this one comes after.
    public var previous: [JobInput.Previous]

    /// Makes an input.
    public init(
        text: String,
        separatedMaterial: String? = nil,
        attachments: [Attachment] = [],
        history: [JobInput.Turn] = [],
        summary: String? = nil,
        previous: [JobInput.Previous] = []
    ) {
        self.text = text
        self.separatedMaterial = separatedMaterial
        self.attachments = attachments
        self.history = history
        self.summary = summary
        self.previous = previous
    }

    /// What the skill should work on, in order of preference: outputs of the steps before, text attachments, the part
    /// of the text that is no instruction, the whole text.
    public var material: String {
        if !previous.isEmpty { return previous.map(\.output.text).joined(separator: "\n\n") }
        let texts = attachments.compactMap(\.text)
        if !texts.isEmpty { return texts.joined(separator: "\n\n") }
        return separatedMaterial ?? text
    }

    /// Whether the material is more than the words of the request itself.
    public var hasSeparateMaterial: Bool {
        !previous.isEmpty || separatedMaterial != nil || attachments.contains(where: \.isText)
    }

    /// How many bytes of UTF-8 the material has, about, without making it: for who must refuse what is too long.
    public var materialSize: Int {
        if !previous.isEmpty { return previous.reduce(0) { $0 + $1.output.text.utf8.count } }
        let size = attachments.reduce(0) { $0 + ($1.isText ? $1.data.count : 0) }
        return size > 0 ? size : (separatedMaterial ?? text).utf8.count
    }
}
