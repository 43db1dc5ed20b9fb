import ProcessProtocol
import PushCore
import Testing

@Suite struct LineParserTests {
    private let status = {
        var report = ChildReport(pid: 4_711, state: .sending)
        report.partsHeld = 2
        report.counts.sent = 12
        report.progress = 99
        return ChildStatus(generation: 3, report: report)
    }()

    @Test func whatIsWrittenIsReadBack() {
        var parser = LineParser<ChildMessage>()
        #expect(parser.parse(LineEncoder.line(ChildMessage(status))).map(\.status) == [status])
        var commands = LineParser<SupervisorMessage>()
        for command in SupervisorCommand.allCases {
            let message = SupervisorMessage(command, detail: "line\nbreak \"quoted\"")
            #expect(commands.parse(LineEncoder.line(message)) == [message])
        }
        #expect(parser.garbageLines + commands.garbageLines == 0)
    }

    @Test func theLineHasTheDocumentedForm() {
        let line = String(decoding: LineEncoder.line(SupervisorMessage(.wake)), as: UTF8.self)
        #expect(line == "{\"command\":\"wake\",\"version\":1}\n")
    }

    @Test func messagesMayComeInPieces() {
        var parser = LineParser<ChildMessage>()
        let bytes = LineEncoder.line(ChildMessage(status)) + LineEncoder.line(ChildMessage(status))
        let read = bytes.flatMap { parser.parse([$0]) }
        #expect(read.map(\.status) == [status, status])
    }

    @Test func garbageIsCountedAndReadingGoesOn() {
        var parser = LineParser<ChildMessage>()
        let good = LineEncoder.line(ChildMessage(status))
        let lines = Array("warning: something printed this\u{1B}[0m\n{\"version\":1}\n\n[]\n".utf8) + [0xFF, 0x0A]
        #expect(parser.parse(lines + good).count == 1)
        #expect(parser.garbageLines == 4, "an empty line is none")
        #expect(parser.parse(Array("{\"version\":2,\"status\":{}}\n".utf8)).isEmpty)
        #expect(parser.garbageLines == 5)
    }

    @Test func aLineWithoutEndCostsNoMemory() {
        var parser = LineParser<ChildMessage>()
        for _ in 0..<100 { #expect(parser.parse([UInt8](repeating: 0x61, count: 10_000)).isEmpty) }
        #expect(parser.garbageLines == 1)
        #expect(parser.lastGarbage.count == 200)
        #expect(parser.parse([0x0A] + LineEncoder.line(ChildMessage(status))).count == 1)
    }

    @Test func aTornLastLineIsGarbage() {
        var parser = LineParser<ChildMessage>()
        #expect(parser.parse(LineEncoder.line(ChildMessage(status)).dropLast(10)).isEmpty)
        parser.finish()
        #expect(parser.garbageLines == 1)
    }

    @Test func unknownKeysAreIgnored() {
        var parser = LineParser<SupervisorMessage>()
        let line = "{\"version\":1,\"command\":\"drain\",\"new\":{\"a\":[1]}}\n"
        #expect(parser.parse(line.utf8) == [SupervisorMessage(.drain)])
    }

    /// During an upgrade a supervisor and its children may have different versions.
    @Test func anOlderAndANewerChildAreUnderstood() throws {
        var parser = LineParser<ChildMessage>()
        let head = #"{"version":1,"status":{"generation":1,"report":{"pid":1"#
        let older = try #require(parser.parse("\(head)}}}\n".utf8).first?.status)
        #expect(older == ChildStatus(generation: 1, report: ChildReport(pid: 1)))
        let more =
            #""state":"dreaming","counts":{"late_outcomes":8,"dreams":0.5,"moods":[{}]},"connections":{"limited_by":"sleep"},"mood":7"#
        let newer = try #require(
            parser.parse("\(head),\(more)},\"exitReason\":\"bored\",\"figures\":[]}}\n".utf8).first?.status
        )
        #expect(newer.report.counts.lateOutcomes == 8 && newer.report.connections == ChildConnections())
        // An unknown state counts as sending; unknown members are ignored.
        #expect(newer.report.state == .sending && newer.exitReason == nil && newer.figures == nil)
        var whole = ChildStatus(generation: 2, report: status.report, exitReason: .circuitOpen)
        for (place, count) in ChildCounts.all.enumerated() {
            whole.report.counts[keyPath: count.path] = Int64(place + 1)
        }
        whole.report.deliveryID = 16
        whole.report.connections.limitedBy = .window
        #expect(parser.parse(LineEncoder.line(ChildMessage(whole))).first?.status == whole)
    }

    @Test func randomBytesNeverCrash() {
        var random = SystemRandomNumberGenerator()
        var parser = LineParser<ChildMessage>()
        for _ in 0..<200 {
            let bytes = (0..<500).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(parser.parse(bytes).isEmpty)
        }
    }
}
