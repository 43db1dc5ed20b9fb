import Testing

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

    @Test(arguments: ["\"open,u1", "\"a\"b,u1", "a\"b,u1", String(repeating: "x", count: 70_000)])
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
            let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
            let records = read(bytes)
            #expect(records.count <= lines.count, "seed \(seed)")
            #expect(records.allSatisfy { (1...lines.count).contains($0.line) }, "seed \(seed)")
        }
    }
}
