extension String {
    /// The start of a text, in whole Unicode scalars: at most so many bytes of UTF-8.
    public func start(ofBytes count: Int) -> Substring {
        guard utf8.count > count else { return self[...] }
        var end = utf8.index(startIndex, offsetBy: max(0, count))
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return self[..<end]
    }

    /// The end of a text, in whole Unicode scalars: at most so many bytes of UTF-8.
    public func end(ofBytes count: Int) -> Substring {
        guard utf8.count > count else { return self[...] }
        var start = utf8.index(endIndex, offsetBy: -max(0, count))
        while start < endIndex, start.samePosition(in: unicodeScalars) == nil { start = utf8.index(after: start) }
        return self[start...]
    }
}
