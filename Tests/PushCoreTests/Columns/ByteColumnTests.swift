import Testing

@testable import PushCore

@Suite struct ByteColumnTests {
    private struct Broken: Error {}

    @Test func rowsComeBack() {
        var column = ByteColumn()
        column.append("a".utf8)
        column.appendNull()
        column.append([UInt8]())
        column.append([1, 2, 3][1...])
        column.append(Array("é".utf8).span)
        #expect(column.count == 5)
        #expect((0..<5).map(column.isNull) == [false, true, false, false, false])
        #expect((0..<5).map { Array(column[$0]) } == [[97], [], [], [2, 3], [0xC3, 0xA9]])
        #expect(column.string(4) == "é")
        #expect(column.range(1) == 1..<1)
        #expect(column.ends == [1, 1, 1, 3, 5])
    }

    @Test func columnWithoutNullsKeepsNoList() {
        let column = ByteColumn(["a", "b"])
        #expect(!column.isNull(0) && !column.isNull(1))
        #expect(column == ByteColumn(["a", "b"]))
        #expect(column != ByteColumn(["a", nil]))
    }

    @Test(arguments: [[], [0], [2, 3], [1, 4], [0, 1, 2, 3, 4]] as [[Int32]])
    func emptiedRowsTakeNoRoom(_ kept: [Int32]) {
        let column = ByteColumn(["a", nil, "", "bcd", "é"])
        let emptied = column.emptied(but: kept)
        #expect(emptied.count == 5)
        for row in 0..<5 {
            #expect(emptied.string(row) == (kept.contains(Int32(row)) ? column.string(row) : ""))
            #expect(emptied.isNull(row) == column.isNull(row))
        }
        #expect(emptied.bytes.count == kept.reduce(0) { $0 + column[Int($1)].count })
    }

    @Test func writingInPlace() {
        var column = ByteColumn(["first"])
        column.append {
            $0 += [1, 2]
            return true
        }
        column.append {
            $0 += [3]
            return false
        }
        #expect(throws: Broken.self) {
            try column.append { bytes throws(Broken) in
                bytes += [4, 5]
                throw Broken()
            }
        }
        column.append([6])
        #expect(column.count == 4)
        #expect(column.isNull(2))
        #expect(column.bytes == Array("first".utf8) + [1, 2, 6])
    }

    @Test func rowsCanBeRemoved() {
        var column = ByteColumn(["a", nil, "bc"])
        column.removeLast()
        column.removeLast()
        #expect(column.count == 1 && column.string(0) == "a")
        column.append("d".utf8)
        #expect(!column.isNull(1) && column.string(1) == "d")
        column.removeAll()
        #expect(column.isEmpty)
        column.removeLast()
        #expect(column == ByteColumn())
    }
}
