import Foundation
import Testing

@testable import GatewaySimulator

/// Keys, table and record file.
struct RecordTests {
    @Test func theTableCountsEveryMessage() {
        var table = MessageTable()
        var dice = FaultDice(seed: 42)
        let keys = (0..<200_000).map { _ in MessageKey(high: dice.next(), low: dice.next()) }
        for key in keys { #expect(table.record(key, tokenHash: 1, answer: 0, isAccepted: true) == 1) }
        #expect(table.count == keys.count)
        for key in keys.prefix(1000) { _ = table.record(key, tokenHash: 2, answer: 9, isAccepted: false) }
        for key in keys.prefix(10) { #expect(table.record(key, tokenHash: 3, answer: 0, isAccepted: true) == 2) }
        #expect(table.count == keys.count)
        let entry = table.entry(keys[500])
        #expect(entry?.seen == 2)
        #expect(entry?.accepted == 1)
        #expect(entry?.answer == 9)
        #expect(entry?.tokenHash == 2)
        #expect(table.entry(MessageKey(high: 1, low: 1)) == nil)
        #expect(table[123].key == keys[123])
    }

    @Test func entriesStaySmall() {
        #expect(MemoryLayout<MessageTable.Entry>.stride == 24)
    }

    @Test func countsStopInsteadOfRunningOver() {
        var entry = MessageTable.Entry(key: .none)
        for _ in 0..<5000 { entry.count(tokenHash: .max, answer: 255, isAccepted: true) }
        #expect(entry.seen == 4095)
        #expect(entry.accepted == 4095)
        #expect(entry.answer == 255)
        #expect(entry.tokenHash == .max)
    }

    @Test func keysComeFromUUIDsNumbersAndAnythingElse() {
        let uuid = "a1b2c3d4-0000-4000-8000-0123456789ac"
        #expect(MessageKey(id: uuid) == MessageKey(id: uuid.uppercased()))
        #expect(MessageKey(id: uuid).text == uuid)
        #expect(MessageKey(id: "2147483647").text == "2147483647")
        #expect(MessageKey(id: "123") != MessageKey(id: "124"))
        #expect(MessageKey(id: "token:a") != MessageKey(id: "token:b"))
        for text in [
            "", "a1b2c3d4-0000-4000-8000-0123456789a", "a1b2c3d4+0000-4000-8000-0123456789ac",
            "\u{2D}" + uuid.dropFirst(),
        ] {
            let bytes = Array(text.utf8)
            #expect(MessageKey(uuid: bytes, bytes.indices) == nil)
        }
    }

    @Test func theRecordFileHasALineForEachPush() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("record-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await Fixture.run(.with { $0.recordFile = file }) { (fixture) async throws in
            let id = "a1b2c3d4-0000-4000-8000-0123456789ac"
            _ = try fixture.push(["apns-id": id])
            _ = try fixture.push(["apns-id": id, "apns-priority": "3"])
            let lines = try RecordLine.read(file)
            #expect(lines.map(\.id) == [id, id])
            #expect(lines.map(\.status) == [200, 400])
            #expect(lines.map(\.reason) == ["", "BadPriority"])
            #expect(lines.map(\.gateway) == ["apns", "apns"])
            #expect(lines.map(\.answered) == [true, true])
            #expect(lines.allSatisfy { $0.time > 1_700_000_000 })
        }
    }

    @Test func aDelayedAnswerGetsALineWhenItLeaves() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("record-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await Fixture.run(.with { $0.recordFile = file }) { (fixture) async throws in
            var plan = FaultPlan()
            plan.latency = .fixed(milliseconds: 1)
            try fixture.simulator.setFaults(plan, for: .apns)
            let id = "a1b2c3d4-0000-4000-8000-0123456789ac"
            _ = try fixture.push(["apns-id": id])
            let lines = try RecordLine.read(file)
            #expect(lines.map(\.id) == [id, id])
            #expect(lines.map(\.status) == [200, nil])
            #expect(lines.map(\.answered) == [false, true])
        }
    }
}
