import Foundation
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import PushCore
@testable import Store
@testable import pushmta

/// Whatever a file contains, the import ends, refuses wrong lines one by one, and passes on only values that the
/// database can read.
@Suite struct SubscriptionImportFuzzTests {
    /// 25,000 cases take seconds; `PUSHMTA_FUZZ_CASES` sets another number, up to a million.
    private static let cases = min(
        1_000_000,
        ProcessInfo.processInfo.environment["PUSHMTA_FUZZ_CASES"].flatMap(Int.init) ?? 25_000
    )

    private static let ios = String(repeating: "0a1B", count: 16)
    private static let seeds = [
        "push_token,user_key,locale,time_zone,recipient.firstName,parameter.city\n\(ios),u1,fr-CA,Europe/Paris,\"Zoë, \"\"Z\"\"\",Köln\n",
        "\u{FEFF}push_token\r\n\(ios)\r\n\r\nnot-a-token\r\n",
        "user_key,push_token\n\"\",\(String(repeating: "x", count: 40))\n\"a\tb\\\",\(ios)\n,\n",
        "push_token,name\n\(ios),\"evil\n\(ios),Owned\r\n\"\n\(ios),\"a \"\"\nb\"\n",
        "push_token,push_token\n\(ios),\(ios)\n", "a,b\n1,2\n", "",
        "push_token,registered_at,user_key\r\(ios),2026-11-28T10:00:00Z,\u{A0}u1 \r\(ios),,\r",
        "push_token,{\"k\":1},parameter.x\n\(ios),\"\u{1}\u{7F}\u{2028}\",\\N\n",
    ]

    @Test func noFileCrashesIt() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = TestRandom(seed: seed)
        var imported = 0
        for number in 0..<Self.cases {
            imported += try check(Self.file(&random), &random, "seed \(seed), case \(number)")
        }
        #expect(imported > 0, "no case got as far as the database")
    }

    /// Imports one file; returns the number of rows.
    private func check(_ bytes: [UInt8], _ random: inout TestRandom, _ place: String) throws -> Int {
        let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
        let whole = Self.records(bytes, piece: .max)
        let pieces = Self.records(bytes, piece: 1 + random.below(9))
        // A line end inside quotes does not end a record: the rest belongs to the field or is refused with it.
        if whole.map(\.line) != Self.firstLines(bytes) {
            Issue.record("\(place): a record begins inside quotes, or is lost")
        }
        if whole != pieces || whole.contains(where: { !(1...lines).contains($0.line) }) {
            Issue.record("\(place): what is read depends on how it comes")
        }
        guard let first = whole.first, let header = try? SubscriptionHeader(first, file: "f") else { return 0 }
        let rows = whole.dropFirst().compactMap { try? header.row($0).get() }
        var imported = 0
        for platform in Platform.allCases {
            var report = ImportReport()
            let sound = try SubscriptionCheck(platform: platform).sound(rows, true, &report)
            if sound.count + report.skipped != rows.count {
                Issue.record("\(place): a line is neither taken nor refused")
            }
            let text = ImportLines.copyText(sound)
            if !Self.isReadable(text, rows: sound) {
                Issue.record("\(place): COPY would read something else than \(sound)")
            }
            imported += sound.count
        }
        return imported
    }

    /// The lines on which records begin. A quote opens a field only at its beginning, and a doubled quote does not
    /// close it.
    private static func firstLines(_ bytes: [UInt8]) -> [Int] {
        var lines: [Int] = []
        var (line, first, isQuoted, isEmpty) = (1, 1, false, true)
        var fieldHasBytes = false
        var mayReopen = false
        let isMarked = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        var last: UInt8 = 0
        for byte in bytes.dropFirst(isMarked ? 3 : 0) {
            defer { last = byte }
            let isLineEnd = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            let isSecondHalf = byte == UInt8(ascii: "\n") && last == UInt8(ascii: "\r")
            if isQuoted {
                if isLineEnd, !isSecondHalf { line += 1 }
                if byte == UInt8(ascii: "\"") { (isQuoted, mayReopen) = (false, true) }
                isEmpty = false
            } else if isSecondHalf {
                continue
            } else if isLineEnd {
                if !isEmpty { lines.append(first) }
                line += 1
                (first, isEmpty, fieldHasBytes, mayReopen) = (line, true, false, false)
            } else {
                isEmpty = false
                if byte == UInt8(ascii: "\""), mayReopen || !fieldHasBytes { isQuoted = true }
                mayReopen = false
                fieldHasBytes = byte != UInt8(ascii: ",")
            }
        }
        if !isEmpty { lines.append(first) }
        return lines
    }

    private static func records(_ bytes: [UInt8], piece: Int) -> [CSVRecord] {
        var reader = CSVReader()
        var records: [CSVRecord] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            records += reader.read(rest.prefix(piece))
            rest = rest.dropFirst(piece)
        }
        if let last = reader.finish() { records.append(last) }
        return records
    }

    /// Reads COPY's text format back, as PostgreSQL's manual describes it.
    private static func isReadable(_ text: [UInt8], rows: [ImportRow]) -> Bool {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count == rows.count + 1, lines.last?.isEmpty == true else { return false }
        return zip(lines, rows).allSatisfy { line, row in
            let columns = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map(unescaped)
            guard columns.count == 8 else { return false }
            let texts = [String(row.line), row.pushToken, row.userKey, row.locale, row.timeZone]
            return zip(columns, texts).allSatisfy { $0 == $1 } && object(columns[5]) == row.recipient
                && object(columns[6]) == row.parameters && columns[7] == row.registeredAt?.internetText
        }
    }

    /// A column's value; nil for NULL.
    private static func unescaped(_ column: ArraySlice<UInt8>) -> String? {
        if column.elementsEqual("\\N".utf8) { return nil }
        var bytes: [UInt8] = []
        var isEscape = false
        for byte in column {
            switch (isEscape, byte) {
            case (false, UInt8(ascii: "\\")):
                isEscape = true
                continue
            case (true, UInt8(ascii: "t")): bytes.append(9)
            case (true, UInt8(ascii: "n")): bytes.append(10)
            case (true, UInt8(ascii: "r")): bytes.append(13)
            default: bytes.append(byte)
            }
            isEscape = false
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func object(_ json: String?) -> [String: String]? {
        guard let json else { return [:] }
        // JSONSerialization would drop a U+FEFF at the beginning of a string.
        guard case .object(let entries)? = try? JSONParser.parse(json.utf8) else { return nil }
        var values: [String: String] = [:]
        for entry in entries {
            // A value to be cleared.
            var text: String?
            switch entry.value {
            case .null: text = ""
            case .string(let found): text = found
            default: text = nil
            }
            guard let text, values.updateValue(text, forKey: entry.name) == nil else {
                return nil
            }
        }
        return values
    }

    // MARK: Files

    private static let words: [[UInt8]] = [
        Array(",".utf8), Array("\"".utf8), Array("\"\"".utf8), Array("\n".utf8), Array("\r\n".utf8), Array("\r".utf8),
        Array("\"\n".utf8), Array(",\"".utf8), Array("\t".utf8), Array("\\".utf8), Array("\\.".utf8), Array("\\N".utf8),
        [0], [0xFF], [0xC3],
        [0xED, 0xA0, 0x80], [0x7F],
        Array("push_token".utf8), Array("parameter.".utf8), Array("user_key".utf8), Array("é😀".utf8), Array(ios.utf8),
        Array("\u{FEFF}".utf8), Array("e\u{301}".utf8),
    ]

    /// A file of random words, or a valid file with some bytes changed.
    private static func file(_ random: inout TestRandom) -> [UInt8] {
        if random.below(4) == 0 {
            return (0..<random.below(40)).flatMap { _ in words[random.below(words.count)] }
        }
        var bytes = Array(seeds[random.below(seeds.count)].utf8)
        for _ in 0..<random.below(6) {
            let place = random.below(bytes.count + 1)
            let end = min(bytes.count, place + random.below(4))
            switch random.below(4) {
            case 0: bytes.replaceSubrange(place..<end, with: words[random.below(words.count)])
            case 1: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
            case 2: bytes.removeSubrange(place..<end)
            default: bytes += bytes[place...]
            }
        }
        // A line may exceed the maximum length of a record.
        if random.below(2_000) == 0 {
            bytes += Array(repeating: UInt8(ascii: "y"), count: CSVReader.maxRecordBytes + 9)
        }
        return bytes
    }
}
