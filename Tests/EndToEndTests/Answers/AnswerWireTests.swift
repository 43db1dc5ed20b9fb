import Gateways
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Each row of the answer table over the real wire: the simulator gives the answer, a child receives it, and the
/// database has what the row says.
@Suite(.serialized) struct AnswerWireTests {
    /// A row with the message that gets its answer.
    private struct Meeting {
        var row: AnswerRow
        var script: AnswerScript
        var subscription: Int64
        var token: String
    }

    /// Rows whose answer a simulated device can give, and rows that need more to fail.
    private static let scripted = AnswerTable.rows.compactMap { row in AnswerScript(row).map { (row, $0) } }

    /// The rows that no test of this suite covers, and why.
    private static func isElsewhere(_ row: AnswerRow) -> Bool {
        switch (row.gateway, row.source) {
        // Error packets depend on the order in a connection: LegacyGatewaysTests cover them.
        case (.apnsBinary, _): true
        // A connection lost before anything is written leaves nothing to see on the wire. No server here breaks
        // HTTP/2's rules; HTTP2Tests have servers that do.
        case (_, .noAnswer):
            row.outcomeClass == .unprocessed || row.gateway == .fcmLegacy || row.reason == "MalformedAnswer"
        case (.fcmLegacy, .response): row.status == 0 || row.outcomeClass == .ambiguous
        // The token endpoint cannot be unreachable while the simulator runs.
        case (_, .tokenEndpoint): row.status == 0 && row.reason.isEmpty
        // Every other fault of a message is found in the content before a delivery starts. A view that fails for one
        // person has its own tests.
        case (_, .check): row.reason.isEmpty || row.reason == "FieldsUnreadable"
        default: false
        }
    }

    @Test func everyRowIsMetSomewhere() {
        let met = Set(Self.scripted.map(\.0))
        for row in AnswerTable.rows where !met.contains(row) && !Self.isElsewhere(row) {
            #expect([.goAway, .tokenEndpoint, .check].contains(row.source), "\(row.label)")
        }
        #expect(Self.scripted.count > 80)
    }

    @Test(.timeLimit(.minutes(20))) func everyRowHoldsFromTheWireToTheDatabase() async throws {
        // Each gateway has its own site: a supervisor starts one child a second, and most rows need their own child.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for gateway in AnswerGateway.allCases {
                guard AnswerTable.rows.contains(where: { $0.gateway == gateway && !Self.isElsewhere($0) }) else {
                    continue
                }
                group.addTask {
                    try await AnswerSite.with { site in
                        try await Self.meetDevices(site, gateway)
                        try await Self.meetChecks(site, gateway)
                        try await Self.meetGoAways(site, gateway)
                        try await Self.meetTokenEndpoint(site, gateway)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    // MARK: Answers to messages

    private static func meetDevices(_ site: AnswerSite, _ gateway: AnswerGateway) async throws {
        let rows = scripted.filter { $0.0.gateway == gateway }
        guard !rows.isEmpty else { return }
        try await meetTogether(site, gateway, rows.filter { !$0.0.concernsOthers && !$0.0.isTriedAtNoCost })
        try await meetAgain(site, gateway, rows.filter { $0.0.isTriedAtNoCost && !$0.0.concernsOthers })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, (row, script)) in rows.filter({ $0.0.concernsOthers }).enumerated() {
                group.addTask { try await meetAlone(site, row, script, "\(gateway.rawValue)-alone-\(number)") }
            }
            try await group.waitForAll()
        }
    }

    /// Answers that affect only their message, all in one delivery without retries.
    private static func meetTogether(
        _ site: AnswerSite,
        _ gateway: AnswerGateway,
        _ rows: [(AnswerRow, AnswerScript)]
    ) async throws {
        let application = try await site.application("\(gateway.rawValue)-together", gateway)
        let meetings = try await meetings(site, application, rows)
        let delivery = try await site.send(application.name)
        try await site.wait("\(application.name)") { try await site.store.deliveryProgress(delivery).state.isFinal }
        for meeting in meetings {
            let record = try await site.record(delivery, meeting.subscription)
            #expect(record == AnswerSite.expectedRecord(meeting.row, meeting.script), "\(meeting.row.label)")
            #expect(
                try await site.events(delivery, meeting.subscription) == AnswerSite.expectedEvents(meeting.row),
                "\(meeting.row.label)"
            )
        }
        #expect(try await site.health(application)?.state ?? .closed == .closed)
        try await site.wait("token events of \(application.name)") {
            try await site.store.tokenEventCounts(delivery: delivery).allSatisfy { $0.pending == 0 }
        }
        let counts = try await site.store.tokenEventCounts(delivery: delivery)
        #expect(counts.allSatisfy { $0.held == 0 && $0.outdated == 0 }, "\(counts)")
    }

    private static func meetings(
        _ site: AnswerSite,
        _ application: ApplicationRow,
        _ rows: [(AnswerRow, AnswerScript)]
    ) async throws -> [Meeting] {
        var meetings: [Meeting] = []
        for (number, (row, script)) in rows.enumerated() {
            let (id, token) = try await site.subscribe(application, number)
            try await site.tell(token, script.device)
            meetings.append(Meeting(row: row, script: script, subscription: id, token: token))
        }
        return meetings
    }

    /// A failure of the gateway costs no attempt, and the message gets through when it has passed.
    private static func meetAgain(
        _ site: AnswerSite,
        _ gateway: AnswerGateway,
        _ rows: [(AnswerRow, AnswerScript)]
    ) async throws {
        let application = try await site.application("\(gateway.rawValue)-again", gateway)
        let once = rows.map { row, script in (row, script.once) }
        let meetings = try await meetings(site, application, once)
        let delivery = try await site.send(application.name)
        // Messages that need a wrong credential wait separately, by reason, until an operator says that it is
        // corrected.
        let reasons = rows.count { $0.0.fault == .credential }
        if reasons > 0 {
            try await site.wait("\(application.name) apart") {
                let alarms = try await site.store.alarms()
                return alarms.count { $0.code == "credential_refused" && $0.subject == application.name } == reasons
            }
            try await site.store.resumeApplication(named: application.name)
        }
        try await site.wait("\(application.name)") { try await site.store.deliveryProgress(delivery).state.isFinal }
        for meeting in meetings {
            let record = try await site.record(delivery, meeting.subscription)
            #expect(record?.status == .sent && record?.attempt == 1 && record?.failure == nil, "\(meeting.row.label)")
            #expect(try await site.events(delivery, meeting.subscription).isEmpty, "\(meeting.row.label)")
        }
    }

    /// An answer that affects more than its message, in its own application.
    private static func meetAlone(
        _ site: AnswerSite,
        _ row: AnswerRow,
        _ script: AnswerScript,
        _ name: String
    ) async throws {
        let application = try await site.application(name, row.gateway)
        let (subscription, token) = try await site.subscribe(application, 0)
        try await site.tell(token, script.device)
        let delivery =
            row.isOfOwnTopic
            ? try await site.send(name, content: #"{"ios":{"push_type":"voip","variables":{"call":"1"}}}"#)
            : try await site.send(name)
        if row.outcomeClass == .stopDelivery {
            return try await expectHold(site, application, delivery, subscription, row)
        }
        if row.outcomeClass == .stopApplication {
            return try await expectStop(site, application, delivery, subscription, row.label, says: script.reason)
        }
        try await site.wait(row.label) { try await site.record(delivery, subscription) != nil }
        let record = try await site.record(delivery, subscription)
        #expect(record == AnswerSite.expectedRecord(row, script), "\(row.label)")
        #expect(try await site.events(delivery, subscription) == AnswerSite.expectedEvents(row), "\(row.label)")
        #expect(try await site.health(application)?.state ?? .closed == .closed, "\(row.label)")
    }

    /// The circuit opens, and the message waits.
    private static func expectStop(
        _ site: AnswerSite,
        _ application: ApplicationRow,
        _ delivery: Int64,
        _ subscription: Int64,
        _ label: String,
        says reason: String
    ) async throws {
        try await site.wait(label) { try await site.health(application).map { $0.state != .closed } ?? false }
        let health = try await site.health(application)
        #expect(
            health?.reason.contains(reason) == true && health?.remedy.isEmpty == false,
            "\(label): \(health as Any)"
        )
        #expect(try await site.record(delivery, subscription) == nil, "\(label)")
        #expect(try await site.store.deliveryProgress(delivery).pending == 1, "\(label)")
        #expect(try await site.events(delivery, subscription).isEmpty, "\(label)")
        // No message is left to probe with, so that other rows get the children.
        try await site.store.stopDelivery(delivery)
    }

    /// The delivery is paused with the reason, its message waits, and the circuit stays closed.
    private static func expectHold(
        _ site: AnswerSite,
        _ application: ApplicationRow,
        _ delivery: Int64,
        _ subscription: Int64,
        _ row: AnswerRow
    ) async throws {
        try await site.wait(row.label) { try await site.store.deliveryProgress(delivery).state == .paused }
        let progress = try await site.store.deliveryProgress(delivery)
        #expect(progress.stateReason.contains("\(row.status) \(row.reason)"), "\(row.label): \(progress.stateReason)")
        #expect(progress.pending == 1 && progress.failed == 0, "\(row.label)")
        #expect(try await site.record(delivery, subscription) == nil, "\(row.label)")
        #expect(try await site.events(delivery, subscription).isEmpty, "\(row.label)")
        #expect(try await site.health(application)?.state ?? .closed == .closed, "\(row.label)")
        try await site.store.stopDelivery(delivery)
    }

    // MARK: Messages that are not sent

    private static func meetChecks(_ site: AnswerSite, _ gateway: AnswerGateway) async throws {
        let rows = AnswerTable.rows.filter { $0.gateway == gateway && $0.source == .check && !isElsewhere($0) }
        for (number, row) in rows.enumerated() {
            let application = try await site.application("\(gateway.rawValue)-check-\(number)", gateway)
            let (subscription, _) = try await site.subscribe(application, 0)
            // If all were too large, the delivery would not start.
            try await site.subscribe(application, 1, nickname: "Ada")
            let long = "{{nickname|\(String(repeating: "x", count: 5_000))}}"
            let content = #"{"ios":{"title":"\#(long)"},"android":{"title":"\#(long)"}}"#
            let delivery = try await site.send(application.name, content: content)
            try await site.wait(row.label) { try await site.store.deliveryProgress(delivery).state.isFinal }
            let record = try await site.record(delivery, subscription)
            #expect(record?.status == .failed && record?.failure == row.failure, "\(row.label): \(record as Any)")
            #expect(record?.reason.hasPrefix(row.reason) == true, "\(row.label)")
        }
    }

    // MARK: The ends of connections

    /// One row after the other, as the gateway ends all connections at once.
    private static func meetGoAways(_ site: AnswerSite, _ gateway: AnswerGateway) async throws {
        let rows = AnswerTable.rows.filter { $0.gateway == gateway && $0.source == .goAway }
        let name = gateway == .apnsHTTP2 ? "apns" : "fcm"
        for (number, row) in rows.enumerated() {
            let application = try await site.application("\(gateway.rawValue)-goaway-\(number)", gateway)
            let (subscription, _) = try await site.subscribe(application, 0)
            // A provider token made this second cannot have expired, so a clock is wrong.
            let isStop = row.application == .stop || row.application == .renewToken
            let word = row.reason.isEmpty ? "something_new" : row.reason
            let key = gateway == .apnsHTTP2 && !word.contains(" ") ? "reason" : "text"
            let goAway = #"{"after_streams":\#(isStop ? 0 : 1),"\#(key)":"\#(word)"}"#
            try await site.control.post("/faults", #"{"gateway":"\#(name)","goaway":\#(goAway)}"#)
            let delivery = try await site.send(application.name)
            if isStop {
                try await expectStop(site, application, delivery, subscription, row.label, says: row.reason)
            } else {
                try await site.wait(row.label) { try await site.store.deliveryProgress(delivery).state.isFinal }
                #expect(try await site.record(delivery, subscription)?.status == .sent, "\(row.label)")
                #expect(try await site.health(application)?.state ?? .closed == .closed, "\(row.label)")
            }
            try await site.control.post("/faults", #"{"gateway":"\#(name)"}"#)
        }
    }

    // MARK: The endpoint of access tokens

    private static func meetTokenEndpoint(_ site: AnswerSite, _ gateway: AnswerGateway) async throws {
        let rows = AnswerTable.rows.filter { $0.gateway == gateway && $0.source == .tokenEndpoint && !isElsewhere($0) }
        for (number, row) in rows.enumerated() {
            let application = try await site.application("\(gateway.rawValue)-endpoint-\(number)", gateway)
            let (subscription, _) = try await site.subscribe(application, 0)
            let status = row.status == 300 ? 302 : row.status == 0 ? 400 : row.status
            let body = row.reason.isEmpty ? "{}" : #"{\"error\":\"\#(row.reason)\"}"#
            try await site.control.post("/oauth", #"{"answer":{"status":\#(status),"body":"\#(body)"}}"#)
            let delivery = try await site.send(application.name)
            if row.application == .stop {
                try await expectStop(site, application, delivery, subscription, row.label, says: row.reason)
                try await site.control.post("/oauth", "{}")
                continue
            }
            // The trouble is reported, the circuit stays closed, and the message waits until there is a token.
            try await site.wait(row.label) { try await site.health(application)?.reason.isEmpty == false }
            #expect(try await site.health(application)?.state == .closed, "\(row.label)")
            #expect(try await site.record(delivery, subscription) == nil, "\(row.label)")
            try await site.control.post("/oauth", "{}")
            try await site.wait(row.label) { try await site.record(delivery, subscription)?.status == .sent }
        }
    }
}

extension AnswerRow {
    /// Whether a message with this answer is resent without using up an attempt.
    fileprivate var isTriedAtNoCost: Bool { outcomeClass == .retry && fault.sparesAttempt }
}
