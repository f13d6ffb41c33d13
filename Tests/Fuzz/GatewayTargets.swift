import FoundationEssentials
import HTTPServer
import Wire

@testable import Gateway

func fuzzRecords(_ bytes: [UInt8]) throws {
    var cursor = EventRecordCursor()
    var end = 0
    var count = 0
    while let record = accepted({ () throws(WireError) in try cursor.next(in: bytes.span.bytes) }) ?? nil {
        try expect(record.payload.lowerBound >= end + 8, "a record overlaps the one before it")
        try expect(record.payload.upperBound <= bytes.count, "a record runs over the end")
        end = record.payload.upperBound
        count += 1
    }
    let read = ReportReader.read(bytes.span.bytes)
    try expect(read.reports.count == count, "\(count) records, \(read.reports.count) reports")
    try expect(read.problem != nil || end == bytes.count, "what follows the records was passed over")
}

func fuzzRequest(_ bytes: [UInt8]) throws {
    // Large contents take another way from 16 KiB on, which is more than a fuzzer comes by: this byte, which is in no
    // UTF-8, stands for so many letters.
    var body: [UInt8] = []
    for byte in bytes {
        if byte == 0xff {
            body += [UInt8](repeating: UInt8(ascii: "A"), count: LargeContents.threshold)
        } else {
            body.append(byte)
        }
    }
    let read: NewRequest
    do throws(HTTPProblem) {
        read = try RequestBody.read(body)
    } catch {
        try expect(400..<500 ~= error.status, "a body is answered with \(error.status)")
        return
    }
    // The short way must give what the long way gives.
    let plain = try JSONDecoder().decode(RequestBody.self, from: Data(body))
    try expect(plain.text ?? "" == read.text && plain.skill == read.skill, "the text is another")
    try expect(plain.attachments?.count ?? 0 == read.attachments.count, "an attachment is lost")
    for (one, other) in zip(plain.attachments ?? [], read.attachments) {
        try expect(Data(base64Encoded: one.data).map { [UInt8]($0) } == other.data, "a content is another")
    }
}
