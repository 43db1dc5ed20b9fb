import Foundation
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct TableTests {
    private var table: Table {
        var table = Table(["name", "count", "rate", "late", "reason"])
        table.add([.text("a \"quoted\"\n\u{1}é"), 3, .number(1.23456), .flag(true), .none])
        table.add([.text("longer than the others"), .integer(-1), .number(.infinity), .flag(false), .text("")])
        return table
    }

    @Test func jsonIsWhatAParserReads() throws {
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(table.json.utf8)) as? [[String: Any]])
        #expect(rows.count == 2)
        #expect(rows[0]["name"] as? String == "a \"quoted\"\n\u{1}é")
        #expect(rows[0]["count"] as? Int == 3)
        #expect(rows[0]["rate"] as? Double == 1.235)
        #expect(rows[0]["late"] as? Bool == true)
        #expect(rows[0]["reason"] is NSNull)
        #expect(rows[1]["rate"] is NSNull)
        #expect(!table.json.contains("\n"))
    }

    @Test func textHasAlignedColumns() {
        var table = Table(["id", "name"])
        table.add([1, "x"])
        table.add([100, "yy"])
        #expect(table.text == "id   name\n1    x\n100  yy")
    }

    @Test func controlCharactersDoNotTearTheColumns() {
        var table = Table(["words", "n"])
        table.add([.text("one\ntwo\u{1B}[2J\t"), 1])
        #expect(table.text == "words" + String(repeating: " ", count: 17) + "n\n" + #"one | two\u001b[2J\t  1"#)
        #expect(table.json.contains(#""one\ntwo\u001b[2J\t""#))
    }

    @Test func longCellsAreCutAndJSONIsNot() {
        var table = Table(["label", "reason"])
        table.add([.text(String(repeating: "l", count: 1_000_000)), .text(String(repeating: "é", count: 2_000))])
        table.add([.text(String(repeating: "m", count: 60)), .text("r")])
        let lines = table.text.split(separator: "\n")
        #expect(lines[1].hasPrefix(String(repeating: "l", count: 59) + "…  é"))
        #expect(lines[1].count == 60 + 2 + 1_000 && lines[1].hasSuffix("é…"))
        #expect(lines[2].hasPrefix(String(repeating: "m", count: 60) + "  r"))
        #expect(table.json.utf8.count > 1_000_000)
    }
}
