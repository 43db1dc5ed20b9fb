import Foundation
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct GatewayRecordTests {
    private func lines(_ text: String) -> (lines: [GatewayRecordLine], rest: String) {
        var lines: [GatewayRecordLine] = []
        let rest = GatewayRecord.lines(of: Data(text.utf8)) { lines.append($0) }
        return (lines, String(decoding: rest, as: UTF8.self))
    }

    @Test func whatMattersIsReadAndTheUnfinishedLineWaits() {
        let read = lines(
            """
            {"id":"a","gateway":"apns","status":200,"reason":"","time":12.5,"answered":false}
            { "time": 13, "status": 410, "id": "b", "reason": "Unregistered" }
            {"id":"a","answered":true,"time":14}
            {"id":"c","sta
            """
        )
        #expect(
            read.lines == [
                GatewayRecordLine(id: "a", status: 200, time: 12.5),
                GatewayRecordLine(id: "b", status: 410, reason: "Unregistered", time: 13),
            ]
        )
        #expect(read.rest == "{\"id\":\"c\",\"sta")
    }

    @Test func aLineThatIsNoJSONCostsOnlyItself() {
        let read = lines("{\"id\":\"a\",\"status\":200}\nnonsense\n\n{\"id\":\"b\",\"status\":503}\n")
        #expect(read.lines.map(\.id) == ["a", "b"])
        #expect(read.rest.isEmpty)
    }

    @Test func theTailCountsWhatIsNew() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/record"
        AppendedFile.append("{\"id\":\"old\",\"status\":200}\n", to: file)
        let tail = RecordTail(file: file)
        #expect(try tail.accepted() == 0)
        AppendedFile.append("{\"id\":\"a\",\"status\":200}\n{\"id\":\"b\",\"status\":503}\n{\"id\":\"c\"", to: file)
        #expect(try tail.accepted() == 1)
        AppendedFile.append(",\"status\":200}\n", to: file)
        #expect(try tail.accepted() == 2)
    }
}
