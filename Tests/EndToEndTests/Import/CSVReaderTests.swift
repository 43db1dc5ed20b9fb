import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct CSVReaderTests {
    private func read(_ text: String, pieces: Int = .max) -> [CSVRecord] {
        read(Array(text.utf8), pieces: pieces)
    }

    private func read(_ bytes: [UInt8], pieces: Int = .max) -> [CSVRecord] {
        var reader = CSVReader()
        var records: [CSVRecord] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            records += reader.read(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
        }
        if let last = reader.finish() { records.append(last) }
        return records
    }

    @Test(arguments: [1, 2, 3, .max])
    func fieldsAreReadAsTheyAreMeant(_ pieces: Int) {
        let records = read("a,b\r\n\"x,\"\"y\"\"\",\n\n,é", pieces: pieces)
        #expect(records.map(\.fields) == [["a", "b"], ["x,\"y\"", ""], ["", "é"]])
        #expect(records.map(\.line) == [1, 2, 4])
        #expect(records.allSatisfy { $0.problem == nil })
    }

    /// CR, LF and CRLF each count as one line end.
    private func lineEnds(_ text: String) -> Int {
        text.replacing("\r\n", with: "\n").utf8.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    }

    @Test("A CR alone ends a line, as old spreadsheets write it", arguments: [1, 2, 3, .max])
    func returnsEndLines(_ pieces: Int) {
        let records = read("a,b\r1,\"x\ry\"\r\r2,z\r\n3,w", pieces: pieces)
        #expect(records.map(\.fields) == [["a", "b"], ["1", "x\ry"], ["2", "z"], ["3", "w"]])
        #expect(records.map(\.line) == [1, 2, 5, 6] && records.map(\.lines) == [1, 2, 1, 1])
    }

    @Test("A byte order mark before a quote does not count as text", arguments: [1, 2, 3, .max])
    func aMarkIsPassedOver(_ pieces: Int) {
        let records = read("\u{FEFF}\"a\",b\n\u{FEFF}c,d", pieces: pieces)
        #expect(
            records.map(\.fields) == [["a", "b"], ["\u{FEFF}c", "d"]] && records.allSatisfy { $0.problem == nil }
        )
        // An incomplete mark is text; here it is the whole file.
        #expect(read([0xEF, 0xBB], pieces: pieces).map(\.problem?.isEmpty) == [false])
        #expect(read([0xEF, 0xBB, 0x41, 0x0A], pieces: pieces).first?.problem?.contains("UTF-8") == true)
    }

    @Test(arguments: [1, 2, 3, .max])
    func lineEndsInQuotesAreOfTheField(_ pieces: Int) {
        let records = read("t1,\"a\nt2,u2,Owned\r\n\"\r\n\nt5,\"\n\"\n\"t7\n\",u7", pieces: pieces)
        #expect(records.map(\.fields) == [["t1", "a\nt2,u2,Owned\r\n"], ["t5", "\n"], ["t7\n", "u7"]])
        #expect(records.map(\.line) == [1, 5, 7])
        #expect(records.allSatisfy { $0.problem == nil })
    }

    @Test("A fault before or around quotes with line ends does not make their contents a record")
    func nothingInQuotesIsARecord() {
        let long = String(repeating: "x", count: CSVReader.maxRecordBytes)
        for wrong in ["\"a\"b", "a\"b", "\u{FFFD}", long] {
            var bytes = Array("t1,u1\n\(wrong),\"evil\nt3,u3\n\"\nt5,u5\n".utf8)
            // A byte that never occurs in UTF-8.
            if wrong == "\u{FFFD}" { bytes.replace(Array(wrong.utf8), with: [0xFF]) }
            let records = read(bytes, pieces: 7)
            #expect(records.map(\.line) == [1, 2, 5])
            #expect(records.map { $0.problem == nil } == [true, false, true])
            #expect(records[1].problem?.contains("lines 2 to 4") == true && records[1].fields.isEmpty)
        }
    }

    @Test(arguments: [10, CSVReader.maxRecordBytes * 3])
    func aQuoteThatIsNeverClosedTakesTheRestAlong(_ lines: Int) {
        let rest = String(repeating: "t,u\n", count: lines)
        let records = read("t1,u1\nt2,\"two\nlines\"\nt4,\"u4\n\(rest)", pieces: 1_000)
        #expect(records.map(\.line) == [1, 2, 4])
        #expect(
            records[2].problem?.contains("line 4 is never closed, so the \(lines) lines after it were never read")
                == true
        )
        #expect(records[2].problem?.hasSuffix("(lines 4 to \(4 + lines))") == true)
        #expect(records[2].fields.isEmpty && records[2].lines == lines + 1)
    }

    @Test(arguments: ["t1,\"u1", "t1,\"u1\n"])
    func aQuoteThatIsNotClosedOnTheLastLineSwallowsNoOther(_ text: String) {
        let records = read(text)
        #expect(records.map(\.lines) == [1])
        #expect(records[0].problem?.contains("line 1 is never closed, so the rest of the line was never read") == true)
    }

    @Test("Standard CSV is read back unchanged, however it is split into pieces")
    func whatIsWrittenIsRead() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = TestRandom(seed: seed)
        let words = ["a", "é", "\"", "\"\"", ",", "\n", "\r", "\r\n", " ", "t,u\n", "\"\n\""]
        for number in 0..<5_000 {
            var text = ""
            var line = 1
            var expected: [CSVRecord] = []
            for _ in 0..<random.below(6) {
                let fields = (0...random.below(4)).map { _ in
                    (0..<random.below(5)).map { _ in words[random.below(words.count)] }.joined()
                }
                let written = fields.map { field in
                    let isPlain = field.utf8.allSatisfy { !"\",\n\r".utf8.contains($0) }
                    guard !isPlain || field.isEmpty || random.below(2) == 0 else { return field }
                    return "\"" + field.replacing("\"", with: "\"\"") + "\""
                }
                let record = written.joined(separator: ",") + (random.below(2) == 0 ? "\n" : "\r\n")
                let lines = lineEnds(record)
                expected.append(CSVRecord(line: line, lines: lines, fields: fields, problem: nil))
                line += lines
                text += record
            }
            let records = read(text, pieces: 1 + random.below(9))
            if records != expected { Issue.record("seed \(seed), case \(number): \(records) is not \(expected)") }
        }
    }

    @Test(arguments: ["\"a\"b,u1", "a\"b,u1", String(repeating: "x", count: 70_000)])
    func aWrongLineSpoilsNoOther(_ line: String) {
        let records = read("t1,u1\n\(line)\nt3,\"u3\"\n")
        #expect(records.map(\.line) == [1, 2, 3])
        #expect(records.map { $0.problem == nil } == [true, false, true])
        #expect(records[2].fields == ["t3", "u3"])
    }

    @Test func aFieldThatIsNotUTF8IsNamed() {
        let records = read(Array("a,b\nc,".utf8) + [0xFF, 0xFE] + Array("\nd,e".utf8))
        #expect(records[1].problem?.contains("field 2") == true)
        #expect(records[2].fields == ["d", "e"])
    }

    @Test func noBytesCrashIt() {
        let seed = UInt64.random(in: 0 ... .max)
        var state = seed
        let alphabet = Array("\",\n\r ab".utf8) + [0, 0xC3, 0xFF]
        for _ in 0..<20_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int(state % 24) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(alphabet[Int((state >> 33) % UInt64(alphabet.count))])
            }
            state = state &* 6_364_136_223_846_793_005 &+ 1
            let lines = 1 + bytes.count { $0 == 10 || $0 == 13 }
            let records = read(bytes)
            #expect(records.count <= lines, "seed \(seed)")
            #expect(records.allSatisfy { (1...lines).contains($0.line) }, "seed \(seed)")
        }
    }
}
