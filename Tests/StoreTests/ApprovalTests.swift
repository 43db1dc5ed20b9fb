import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The approval of a delivery by somebody who did not make it")
struct ApprovalTests {
    /// A delivery to 100 subscribers of a service that asks for approvals above 10, made by the fixture's login.
    private func edited() async throws -> (StoreFixture, Int64) {
        let fixture = try await StoreFixture.make()
        try await fixture.store.setApprovalRule(service: "shop", above: 10)
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "Hi"}}"#)
        )
        return (fixture, id)
    }

    private func analysed() async throws -> (StoreFixture, Int64) {
        let (fixture, id) = try await edited()
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        return (fixture, id)
    }

    /// Prepares what is to be prepared, as a supervisor does.
    private func prepare(_ fixture: StoreFixture) async throws {
        while let job = try await fixture.store.claimDeliveriesToPrepare(host: "a").first {
            while true {
                let chunk = try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 10)
                guard chunk.done else { continue }
                if chunk.isHeld { _ = try await fixture.store.endAnalysis(of: job, AnalysisFindings()) }
                break
            }
        }
    }

    /// Does something for the holder of an API key.
    private func key<Value: Sendable>(_ name: String, _ act: () async throws -> Value) async throws -> Value {
        try await AuditCaller.$current.withValue("API key \(name)") {
            try await AuditCaller.$key.withValue(name) { try await act() }
        }
    }

    private func approve(_ fixture: StoreFixture, _ id: Int64, by name: String = "bert") async throws {
        try await key(name) { try await fixture.store.approveDelivery(id, comment: "ok") }
    }

    /// The SQLSTATE of a refusal; nil if there was none.
    private func refusal(_ act: () async throws -> Void) async throws -> String? {
        do {
            try await act()
            return nil
        } catch let error as StoreError { return error.sqlState }
    }

    /// As if the approval of a delivery that starts as soon as it is approved was requested six days ago.
    private func age(_ fixture: StoreFixture, _ id: Int64) async throws {
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery SET start_at = start_at - interval '6 days', valid_until = valid_until - interval '6 days',
                frozen_at = frozen_at - interval '6 days', frozen_until = frozen_until - interval '6 days', log_day = log_day - 1
            WHERE id = \(id) AND starts_approved
            """
        )
    }

    /// Whether the messages of a delivery are those of the present day.
    private func isOfToday(_ fixture: StoreFixture, _ id: Int64) async throws -> Bool {
        try await fixture.sql(
            "SELECT count(*) FROM pushmta_engine.delivery WHERE id = \(id) AND log_day = pushmta_engine.message_day()"
        ) == 1
    }

    /// Makes a scheduled delivery due.
    private func makeDue(_ fixture: StoreFixture, _ id: Int64) async throws {
        try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = now() WHERE id = \(id)")
        try await fixture.sql("UPDATE pushmta_engine.approval SET start_at = now() WHERE delivery_id = \(id)")
    }

    @Test("Above the size it starts only when it is counted and approved")
    func needed() async throws {
        let (fixture, id) = try await edited()
        #expect(try await refusal { try await fixture.store.startDelivery(id) } == "PM180")
        #expect(try await refusal { try await approve(fixture, id) } == "PM008")
        try await fixture.store.analyzeDelivery(id)
        #expect(try await refusal { try await fixture.store.startDelivery(id) } == "PM180")
        try await prepare(fixture)
        #expect(try await refusal { try await fixture.store.startDelivery(id) } == "PM181")
        let waiting = try required(try await fixture.store.deliveriesAwaitingApproval(limit: 5).first)
        #expect(waiting.deliveryID == id && waiting.messages == 100 && waiting.above == 10 && waiting.makers.count == 1)
        #expect(waiting.localTime == nil)
        #expect(try await fixture.store.approvalStandings(ofDeliveries: [id, 999]) == [id: .awaited])
        #expect(try await refusal { try await fixture.store.approveDelivery(id, comment: "") } == "PM183")
        try await approve(fixture, id)
        let approval = try await fixture.store.approval(ofDelivery: id)
        #expect(!approval.isAwaited && approval.given?.by == "API key bert" && approval.given?.messages == 100)
        #expect(try await fixture.store.deliveriesAwaitingApproval(limit: 5).isEmpty)
        #expect(approval.standing == .approved)
        #expect(try await fixture.store.approvalStandings(ofDeliveries: [id]) == [id: .approved])
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.store.approvalStandings(ofDeliveries: [id]).isEmpty, "it has begun")
        #expect(try await fixture.store.deliveryProgress(id).state == .preparing)
    }

    @Test("Up to the size, and without a rule, it needs none")
    func small() async throws {
        let (fixture, id) = try await analysed()
        try await fixture.store.setApprovalRule(service: "shop", above: 100)
        #expect(try await refusal { try await approve(fixture, id) } == "PM182")
        try await fixture.store.startDelivery(id)
        let other = try await fixture.store.createDelivery(
            NewDelivery(label: "Other", applications: ["shop-ios"], content: #"{"ios": {"title": "Hi"}}"#)
        )
        #expect(try await refusal { try await fixture.store.startDelivery(other) } == "PM180")
        try await fixture.store.setApprovalRule(service: "shop", above: nil)
        try await fixture.store.startDelivery(other)
    }

    @Test("A person with two logins cannot approve their own, and who changed it is a maker, too")
    func persons() async throws {
        let (fixture, id) = try await analysed()
        try await key("carl") { try await fixture.store.setDeliveryRate(id, messagesPerSecond: 50) }
        #expect(try await refusal { try await approve(fixture, id, by: "carl") } == "PM183")
        try await fixture.store.setPerson(ofLogin: .key, "carl", to: "Carl")
        try await fixture.store.setPerson(ofLogin: .key, "carls-script", to: "Carl")
        #expect(try await refusal { try await approve(fixture, id, by: "carls-script") } == "PM183")
        #expect(try await fixture.store.personLogins().map(\.person) == ["Carl", "Carl"])
        try await fixture.store.setPerson(ofLogin: .key, "carls-script", to: nil)
        try await approve(fixture, id, by: "carls-script")
    }

    @Test("Any change ends an approval", arguments: ["content", "rate", "validity", "priority"])
    func changed(what: String) async throws {
        let (fixture, id) = try await analysed()
        try await approve(fixture, id)
        var changes = DeliveryChanges()
        switch what {
        case "content": changes.content = #"{"ios": {"title": "Other"}}"#
        case "validity": changes.validitySeconds = 60
        case "priority": changes.priority = 9
        default: try await fixture.store.setDeliveryRate(id, messagesPerSecond: 3)
        }
        if !changes.isEmpty { try await fixture.store.updateDelivery(id, changes) }
        if try await fixture.store.deliveryProgress(id).state == .editing {
            try await fixture.store.analyzeDelivery(id)
            try await prepare(fixture)
        }
        #expect(try await refusal { try await fixture.store.startDelivery(id) } == "PM181")
        try await approve(fixture, id)
        try await fixture.store.startDelivery(id)
    }

    @Test("A scheduled one is counted again, and goes out if it has grown by a twentieth at most", arguments: [5, 6])
    func grown(by more: Int64) async throws {
        let (fixture, id) = try await analysed()
        try await approve(fixture, id)
        try await fixture.store.startDelivery(id, at: "2999-12-01T00:00:00Z")
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_part") == 0)
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: more)
        try await makeDue(fixture, id)
        try await prepare(fixture)
        let opened = try await fixture.store.openGates()
        try await prepare(fixture)
        let progress = try await fixture.store.deliveryProgress(id)
        guard more > 5 else {
            #expect(progress.state == .inProgress && progress.target == 105)
            return
        }
        #expect(opened == 0 && progress.state == .pending && progress.waitingReason.contains("grown to 106"))
        #expect(try await fixture.claim(limit: 10).isEmpty)
        let alarms = try await fixture.store.alarms(delivery: id)
        #expect(alarms.map(\.code) == ["delivery_unapproved"] && alarms.first?.severity == .warning)
        // Only when little time is left.
        for (minutes, alarmCount) in [(50, 0), (10, 1), (0, 1)] {
            let start = "now() + interval '\(minutes) minutes'"
            try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = \(start) WHERE id = \(id)")
            let found = try await fixture.store.alarms(delivery: id)
            #expect(found.count == alarmCount, "\(minutes)")
            // It lasts from before the start until after it, and its text must be true all the time.
            #expect(found.allSatisfy { $0.text.hasPrefix("its start is set for ") }, "\(found)")
        }
        try await approve(fixture, id)
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
    }

    @Test("Moving a start needs a new approval, which the delivery waits for")
    func moved() async throws {
        let (fixture, id) = try await analysed()
        try await approve(fixture, id)
        try await fixture.store.startDelivery(id, at: "2999-12-01T00:00:00Z")
        try await fixture.store.rescheduleDelivery(id, to: "2999-12-02T00:00:00Z")
        #expect(try await fixture.store.approval(ofDelivery: id).objection.contains("start"))
        try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = now() WHERE id = \(id)")
        try await prepare(fixture)
        _ = try await fixture.store.openGates()
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).state == .pending)
        try await approve(fixture, id)
        _ = try await fixture.store.openGates()
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
    }

    @Test("A rule of the last moment holds what has not begun")
    func lateRule() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.setApprovalRule(service: "shop", above: nil)
        try await fixture.store.startDelivery(id)
        try await fixture.store.setApprovalRule(service: "shop", above: 10)
        // As if the rule had come while the delivery was being claimed.
        try await fixture.sql("UPDATE pushmta_engine.delivery SET gate = '' WHERE id = \(id)")
        try await prepare(fixture)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .pending && progress.target == 100)
        #expect(progress.waitingReason.contains("need the approval"))
        #expect(try await fixture.parts(id, "held") > 0)
        #expect(try await fixture.claim(limit: 10).isEmpty)
        try await fixture.store.setApprovalRule(service: "shop", above: nil)
        #expect(try await fixture.store.openGates() == 1)
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
        #expect(try await fixture.assertEquation(id))
    }

    @Test("One that nobody approves before its validity ends is edited again")
    func over() async throws {
        let (fixture, id) = try await analysed()
        try await approve(fixture, id)
        try await fixture.store.startDelivery(id, at: "2999-12-01T00:00:00Z")
        try await fixture.store.withdrawApproval(ofDelivery: id, reason: "no")
        try await fixture.sql("UPDATE pushmta_engine.delivery SET valid_until = now() WHERE id = \(id)")
        #expect(try await fixture.store.openGates() == 0)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .editing && progress.stateReason.contains("validity"))
    }

    /// It would be approved, and wait for its approval, until it comes back.
    @Test("One whose validity has ended is not approved")
    func approvedTooLate() async throws {
        let (fixture, id) = try await analysed()
        try await fixture.store.requestApproval(ofDelivery: id, startAt: "2999-12-01T00:00:00Z")
        try await fixture.sql("UPDATE pushmta_engine.delivery SET valid_until = now() WHERE id = \(id)")
        #expect(try await refusal { try await approve(fixture, id) } == "PM182")
        #expect(try await fixture.store.approval(ofDelivery: id).given == nil)
    }

    @Test("A paused one waits for its approval, and the end of an approval keeps its reason")
    func paused() async throws {
        let (fixture, id) = try await analysed()
        try await fixture.store.requestApproval(ofDelivery: id)
        try await fixture.store.pauseDelivery(id)
        #expect(try await fixture.store.deliveriesAwaitingApproval(limit: 5).map(\.deliveryID) == [id])
        #expect(try await fixture.store.approvalStandings(ofDeliveries: [id]) == [id: .awaited])
        try await approve(fixture, id)
        #expect(try await fixture.store.deliveryProgress(id).state == .paused)
        let long = String(repeating: "a", count: 2_001)
        #expect(try await refusal { try await fixture.store.withdrawApproval(ofDelivery: id, reason: long) } == "PM007")
        try await fixture.store.withdrawApproval(ofDelivery: id, reason: "old")
        #expect(try await fixture.store.approval(ofDelivery: id).ended?.because.hasSuffix(" withdrew it: old") == true)
        try await approve(fixture, id)
        #expect(try await fixture.store.approval(ofDelivery: id).ended == nil)
        try await fixture.store.resumeDelivery(id)
        try await prepare(fixture)
        _ = try await fixture.store.openGates()
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
    }

    @Test("It is rejected with a reason, and an edited one needs a new approval")
    func rejected() async throws {
        let (fixture, id) = try await analysed()
        try await approve(fixture, id)
        #expect(try await refusal { try await fixture.store.rejectDelivery(id, reason: " ") } == "PM007")
        try await key("bert") { try await fixture.store.rejectDelivery(id, reason: "The price is wrong") }
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .editing && progress.stateReason == "API key bert rejected it: The price is wrong")
        #expect(try await fixture.store.problems(ofDelivery: id).map(\.subject) == ["approval"])
        #expect(try await fixture.store.approvalStandings(of: [progress]) == [id: .rejected(by: "API key bert")])
        try await fixture.store.analyzeDelivery(id)
        #expect(try await fixture.store.approvalStandings(ofDeliveries: [id]).isEmpty)
        try await prepare(fixture)
        #expect(try await fixture.store.approval(ofDelivery: id).isAwaited)
        let logged = "action IN ('delivery.approve', 'delivery.reject')"
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.audit_log WHERE \(logged)") == 2)
    }

    @Test(
        "A rejection is about one version, and ends when another one is made",
        arguments: ["label", "priority", "validity", "rate", "waves", "recurrence"]
    )
    func rejectedVersion(change: String) async throws {
        let (fixture, id) = try await analysed()
        try await key("bert") { try await fixture.store.rejectDelivery(id, reason: "The price is wrong") }
        var changes = DeliveryChanges()
        switch change {
        case "label": changes.label = "Other"
        case "priority": changes.priority = 9
        case "validity": changes.validitySeconds = 60
        case "rate": try await fixture.store.setDeliveryRate(id, messagesPerSecond: 3)
        case "waves":
            let waves = #"pushmta.set_waves(\#(id), '[{"percent": 10}, {}]')"#
            try await fixture.sql("SELECT count(*) FROM (SELECT \(waves)) c")
        default:
            var rule = RecurrenceRule(unit: .days, timeZone: "UTC")
            rule.times = ["09:00"]
            try await fixture.store.setRecurrence(id, rule)
        }
        if !changes.isEmpty { try await fixture.store.updateDelivery(id, changes) }
        let progress = try await fixture.store.deliveryProgress(id)
        // Nobody approves a label.
        let isKept = change == "label"
        #expect(progress.state == .editing && progress.stateReason.isEmpty == !isKept, "\(progress.stateReason)")
        #expect(try await fixture.store.problems(ofDelivery: id).count == (isKept ? 1 : 0))
        let standings = try await fixture.store.approvalStandings(of: [progress])
        #expect(standings == (isKept ? [id: .rejected(by: "API key bert")] : [:]))
    }

    @Test(
        "An approval of a recurring delivery covers its runs until it is changed or one has grown",
        arguments: ["nothing", "size", "rule", "content", "exclusions"]
    )
    func recurring(change: String) async throws {
        let (fixture, id) = try await edited()
        var rule = RecurrenceRule(unit: .days, timeZone: "UTC")
        rule.times = ["09:00"]
        try await fixture.store.setRecurrence(id, rule)
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        try await approve(fixture, id)
        // As a day later, when nobody has started it.
        let longAgo = "frozen_until = now() - interval '2 days'"
        try await fixture.sql("UPDATE pushmta_engine.delivery SET \(longAgo) WHERE id = \(id)")
        #expect(try await fixture.store.dropOldAnalyses(limit: 10) == 1)
        switch change {
        case "size": try await fixture.store.seedSubscriptions(application: "shop-ios", count: 6)
        case "rule":
            rule.times = ["10:00"]
            try await fixture.store.setRecurrence(id, rule)
        case "content":
            var changes = DeliveryChanges()
            changes.content = #"{"ios": {"title": "Other"}}"#
            try await fixture.store.updateDelivery(id, changes)
        case "exclusions":
            let row = "(delivery_id, user_key) VALUES (\(id), 'ada')"
            try await fixture.sql("INSERT INTO pushmta.delivery_exclusion \(row)")
        default: break
        }
        let run = try await fixture.store.runRecurrence(id)
        try await prepare(fixture)
        let counted = try await fixture.store.deliveryProgress(run)
        #expect(counted.state == (change == "nothing" ? .inProgress : .pending))
        guard change != "nothing" else { return }
        #expect(try await fixture.store.alarms(delivery: run).map(\.code) == ["delivery_unapproved"])
        #expect(try await fixture.claim(limit: 10).isEmpty)
        #expect(try await refusal { try await fixture.store.approveDelivery(run, comment: "") } == "PM183")
        try await approve(fixture, run)
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(run).state == .inProgress)
    }

    @Test("Its plan and its category are approved, too", arguments: ["waves", "variants", "category"])
    func planned(change: String) async throws {
        let (fixture, id) = try await analysed()
        try await approve(fixture, id)
        try await fixture.store.startDelivery(id, at: "2999-12-01T00:00:00Z")
        let call =
            switch change {
            case "waves": #"set_waves(\#(id), '[{"percent": 10}, {}]')"#
            case "variants": #"set_experiment(\#(id), '[{"percent": 50}, {"percent": 50}]')"#
            default: "update_delivery(\(id), category => 'service')"
            }
        try await fixture.sql("SELECT count(*) FROM (SELECT pushmta.\(call)) c")
        try await makeDue(fixture, id)
        try await prepare(fixture)
        #expect(try await fixture.store.openGates() == 0)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .pending && progress.waitingReason.contains("changed after its approval"))
        try await approve(fixture, id)
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
    }

    @Test("A request names the start, and the approval alone lets the delivery go")
    func requested() async throws {
        let (fixture, id) = try await edited()
        try await key("mia") { try await fixture.store.requestApproval(ofDelivery: id) }
        #expect(try await fixture.store.deliveryProgress(id).state == .analysing)
        #expect(try await fixture.store.approval(ofDelivery: id).startsApproved)
        try await prepare(fixture)
        let waiting = try await fixture.store.deliveryProgress(id)
        #expect(waiting.state == .pending && waiting.startAt == nil && waiting.target == 100)
        let approval = try await fixture.store.approval(ofDelivery: id)
        #expect(approval.isAwaited && approval.startsApproved && approval.startsAt == nil)
        #expect(approval.requested?.by == "API key mia")
        let row = try required(try await fixture.store.deliveriesAwaitingApproval(limit: 5).first)
        #expect(row.startsApproved && row.startAt == nil && row.requestedBy == "API key mia")
        #expect(try await fixture.store.alarms(delivery: id).isEmpty, "nobody expects it at a time")
        // Its validity begins with its start.
        try await fixture.sql("UPDATE pushmta_engine.delivery SET valid_until = now() WHERE id = \(id)")
        #expect(try await fixture.store.openGates() == 0)
        #expect(try await fixture.claim(limit: 10).isEmpty)
        try await approve(fixture, id)
        try await prepare(fixture)
        let begun = try await fixture.store.deliveryProgress(id)
        #expect(begun.state == .inProgress && begun.startAt != nil)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery WHERE valid_until > now()") == 1)
        #expect(try await fixture.store.approval(ofDelivery: id).makers.contains("API key bert") == false)
        let logged = "(action = 'delivery.request' OR action = 'delivery.approve' AND detail LIKE '%by API key mia%')"
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.audit_log WHERE \(logged)") == 2)
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'delivery.start'") == 0
        )
        #expect(try await fixture.assertEquation(id))
    }

    @Test("A requested start is kept, also if the approval comes later", arguments: [false, true])
    func requestedTime(isLate: Bool) async throws {
        let (fixture, id) = try await analysed()
        try await fixture.store.requestApproval(ofDelivery: id, startAt: "2999-12-01T00:00:00Z")
        let waiting = try await fixture.store.approval(ofDelivery: id)
        #expect(waiting.isAwaited && !waiting.startsApproved && waiting.startsAt != nil)
        // Its messages are dropped. What is approved is what its page still shows.
        let listed = try required(try await fixture.store.deliveriesAwaitingApproval(limit: 5).first)
        #expect(listed.messages == 100 && waiting.messages == 100 && !listed.wasApproved)
        #expect(try await fixture.store.analysis(ofDelivery: id).messages == 100)
        #expect(try await refusal { try await fixture.store.requestApproval(ofDelivery: id) } == "PM008")
        if !isLate { try await approve(fixture, id) }
        try await makeDue(fixture, id)
        try await prepare(fixture)
        _ = try await fixture.store.openGates()
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).state == (isLate ? .pending : .inProgress))
        guard isLate else { return }
        #expect(try await fixture.store.deliveryProgress(id).waitingReason.contains("need the approval"))
        #expect(try await fixture.store.alarms(delivery: id).map(\.code) == ["delivery_unapproved"])
        try await approve(fixture, id)
        // Nothing has to look at it first.
        #expect(try await fixture.store.deliveryProgress(id).waitingReason.isEmpty)
        #expect(try await fixture.store.alarms(delivery: id).isEmpty)
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
    }

    @Test("One that turns out to need no approval starts as requested, and one that needs none is not requested")
    func requestedForNothing() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.setApprovalRule(service: "shop", above: 100)
        try await fixture.store.requestApproval(ofDelivery: id)
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
        let other = try await fixture.store.createDelivery(
            NewDelivery(label: "Other", applications: ["shop-ios"], content: #"{"ios": {"title": "Hi"}}"#)
        )
        try await fixture.store.setApprovalRule(service: "shop", above: nil)
        #expect(try await refusal { try await fixture.store.requestApproval(ofDelivery: other) } == "PM182")
    }

    @Test("An edited delivery is no longer requested, and a moved one has the new start")
    func requestTakenBack() async throws {
        let (fixture, id) = try await analysed()
        try await fixture.store.requestApproval(ofDelivery: id)
        try await fixture.store.rescheduleDelivery(id, to: "2999-12-01T00:00:00Z")
        #expect(try await fixture.store.approval(ofDelivery: id).startsAt != nil)
        try await fixture.store.rescheduleDelivery(id, to: nil)
        let edited = try await fixture.store.approval(ofDelivery: id)
        #expect(edited.requested == nil && !edited.startsApproved)
        #expect(try await refusal { try await fixture.store.startDelivery(id) } == "PM180")
    }

    @Test("One that waits longer than its messages are good for is counted again")
    func requestedLongAgo() async throws {
        let (fixture, id) = try await analysed()
        try await fixture.store.requestApproval(ofDelivery: id)
        try await age(fixture, id)
        #expect(try await !isOfToday(fixture, id))
        _ = try await fixture.store.dropOldAnalyses(limit: 10)
        #expect(try await fixture.store.deliveryProgress(id).state == .pending)
        #expect(try await isOfToday(fixture, id))
        try await prepare(fixture)
        #expect(try await fixture.store.approval(ofDelivery: id).isCounted)
        try await approve(fixture, id)
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
        #expect(try await fixture.assertEquation(id))
    }

    @Test(
        "What waits for its approval is checked and dated as if it started now, not at its request",
        arguments: ["approval", "priority", "local time", "waves"]
    )
    func requestedDaysAgo(change: String) async throws {
        let (fixture, id) = try await analysed()
        try await fixture.store.requestApproval(ofDelivery: id)
        try await age(fixture, id)
        let waves = "jsonb_build_array('{\"percent\": 50}'::jsonb, jsonb_build_object('at', now() + interval '1 hour'))"
        switch change {
        case "approval":
            try await approve(fixture, id)
            let reason = try await fixture.store.deliveryProgress(id).waitingReason
            #expect(reason == "its messages are not counted yet")
            #expect(try await fixture.store.openGates() == 0, "its messages are too old")
        case "priority":
            var changes = DeliveryChanges()
            changes.priority = 9
            try await fixture.store.updateDelivery(id, changes)
        case "local time":
            let time = "now() AT TIME ZONE 'UTC' + interval '4 hours'"
            try await fixture.sql("SELECT count(*) FROM (SELECT pushmta.set_local_time(\(id), \(time), 'now')) c")
        default: try await fixture.sql("SELECT count(*) FROM (SELECT pushmta.set_waves(\(id), \(waves))) c")
        }
        #expect(try await fixture.store.deliveryProgress(id).state == .pending)
        #expect(try await isOfToday(fixture, id))
        guard change == "approval" || change == "priority" else { return }
        try await prepare(fixture)
        if change == "priority" {
            try await approve(fixture, id)
            try await prepare(fixture)
        }
        #expect(try await fixture.store.deliveryProgress(id).state == .inProgress)
        #expect(try await isOfToday(fixture, id))
    }

    @Test("A plan that does not fit into the validity from now on is refused while the approval is awaited")
    func tooLateWave() async throws {
        let (fixture, id) = try await analysed()
        try await fixture.store.requestApproval(ofDelivery: id)
        try await age(fixture, id)
        let waves = "jsonb_build_array('{\"percent\": 50}'::jsonb, jsonb_build_object('at', now() + interval '9 days'))"
        await #expect(throws: PostgresError.self) {
            try await fixture.sql("SELECT count(*) FROM (SELECT pushmta.set_waves(\(id), \(waves))) c")
        }
    }

    @Test("One that starts as soon as it is approved is not approved for another start")
    func approvedForStart() async throws {
        let (fixture, id) = try await analysed()
        try await fixture.store.requestApproval(ofDelivery: id)
        let start = "2999-12-01T00:00:00Z"
        func approve() async throws {
            try await key("bert") { try await fixture.store.approveDelivery(id, comment: "", startAt: start) }
        }
        #expect(try await refusal { try await approve() } == "PM007")
        try await fixture.store.rescheduleDelivery(id, to: start)
        try await approve()
        #expect(try await fixture.store.approval(ofDelivery: id).objection == "")
    }

    @Test("One that cannot get the requested start is edited again, and its author sees why")
    func requestRefused() async throws {
        let (fixture, id) = try await edited()
        let variants = #"[{"percent": 50}, {"percent": 50}]"#
        try await fixture.sql("SELECT count(*) FROM (SELECT pushmta.set_experiment(\(id), '\(variants)')) c")
        try await fixture.store.requestApproval(ofDelivery: id)
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        while try await !fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 10).done {}
        // Such an application has no room for the variants in its message ids.
        try await fixture.sql("UPDATE pushmta_engine.application SET message_id_format = 'int32'")
        _ = try await fixture.store.endAnalysis(of: job, AnalysisFindings())
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .editing && progress.stateReason.contains("int32"), "\(progress)")
        #expect(try await fixture.store.problems(ofDelivery: id).map(\.subject) == ["approval"])
        #expect(try await fixture.store.approval(ofDelivery: id).requested == nil)
        #expect(try await fixture.store.alarms(delivery: id).map(\.code) == ["delivery_returned"])
    }

    @Test("Who adds or removes an exclusion list is a maker; who sets the same ones is not")
    func exclusionLists() async throws {
        let (fixture, id) = try await edited()
        let target = DeliveryTarget(excludedLists: ["vip"])
        try await fixture.store.createExclusionList(name: "vip")
        try await fixture.store.setTarget(ofDelivery: id, target)
        try await key("dora") { try await fixture.store.setTarget(ofDelivery: id, target) }
        try await key("carl") {
            try await fixture.store.setTarget(ofDelivery: id, DeliveryTarget(excludedLists: []))
        }
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        #expect(try await refusal { try await approve(fixture, id, by: "carl") } == "PM183")
        try await approve(fixture, id, by: "dora")
    }

    @Test("Who ends its recurrence is a maker")
    func recurrenceMaker() async throws {
        let (fixture, id) = try await edited()
        var rule = RecurrenceRule(unit: .days, timeZone: "UTC")
        rule.times = ["09:00"]
        try await fixture.store.setRecurrence(id, rule)
        try await key("carl") { try await fixture.store.removeRecurrence(id) }
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        #expect(try await refusal { try await approve(fixture, id, by: "carl") } == "PM183")
        try await approve(fixture, id)
    }

    @Test("Who exempts a category from the limits is a maker of its deliveries")
    func exemption() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.setCategory("promo", service: "shop")
        try await fixture.sql("SELECT count(*) FROM (SELECT pushmta.update_delivery(\(id), category => 'promo')) c")
        try await key("carl") {
            try await fixture.store.setCategory("promo", service: "shop", isTransactional: true)
        }
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        #expect(try await refusal { try await approve(fixture, id, by: "carl") } == "PM183")
        try await approve(fixture, id)
    }

    @Test(
        "Only the version that was seen is approved",
        arguments: ["nothing", "content", "targets", "size", "start", "cap"]
    )
    func versions(change: String) async throws {
        let (fixture, id) = try await analysed()
        try await approve(fixture, id)
        try await fixture.store.startDelivery(id, at: "2999-12-01T00:00:00Z")
        try await fixture.store.withdrawApproval(ofDelivery: id, reason: "")
        let seen = try await fixture.store.approval(ofDelivery: id).version
        switch change {
        case "content":
            var changes = DeliveryChanges()
            changes.content = #"{"ios": {"title": "Other"}}"#
            try await fixture.store.updateDelivery(id, changes)
            try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = now() WHERE id = \(id)")
            try await prepare(fixture)
        case "targets": try await fixture.sql("SELECT count(*) FROM (SELECT pushmta_engine.drop_preparation(\(id))) c")
        case "size": try await fixture.sql("UPDATE pushmta_engine.delivery_analysis SET messages = messages + 1")
        case "start": try await fixture.store.rescheduleDelivery(id, to: "2999-12-02T00:00:00Z")
        case "cap":
            try await fixture.store.setFrequencyCap(
                FrequencyCapRow(service: "shop", name: "day", maxMessages: 1, unit: .days)
            )
        default: break
        }
        func approveSeen() async throws {
            try await key("bert") { try await fixture.store.approveDelivery(id, comment: "", expected: seen) }
        }
        guard change != "nothing" else {
            #expect(try await fixture.store.deliveriesAwaitingApproval(limit: 5).map(\.version) == [seen])
            try await approveSeen()
            return
        }
        #expect(try await refusal { try await approveSeen() } == "PM184")
        try await approve(fixture, id)
    }

    @Test(
        "A change of the rules that it is subject to ends an approval",
        arguments: [
            "set_category('shop', 'marketing', is_transactional => true)",
            "set_frequency_cap('shop', 'day', 1, 'days')", "set_control_group('shop', 5)",
            "set_sending_hours('shop', '{1,2,3,4,5,6,7}', '00:00', '24:00')",
        ]
    )
    func rules(call: String) async throws {
        let (fixture, id) = try await analysed()
        try await approve(fixture, id)
        try await fixture.sql("SELECT count(*) FROM (SELECT pushmta.\(call)) c")
        let objection = try await fixture.store.approval(ofDelivery: id).objection
        #expect(objection == "it, or a rule of its service, was changed after its approval")
    }

    @Test(
        "The approval of a recurring delivery covers the moments of its plan, and each run at its own time",
        arguments: ["nothing", "start", "day", "wave", "waves"]
    )
    func runs(change: String) async throws {
        let (fixture, id) = try await edited()
        let waves = #"[{"percent": 10}, {"at": "2999-12-01T00:00:00Z"}]"#
        try await fixture.sql(
            """
            DO $$ BEGIN
                PERFORM pushmta.update_delivery(\(id), ends_at => '2999-12-31');
                PERFORM pushmta.set_plan(\(id), '{"local_time": "2036-01-01 09:00", "on_past": "now", "waves": \(waves)}');
            END $$
            """
        )
        var rule = RecurrenceRule(unit: .days, timeZone: "UTC")
        rule.times = ["09:00"]
        try await fixture.store.setRecurrence(id, rule)
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        try await approve(fixture, id)
        if change == "waves" {
            // The recurring delivery itself.
            let other = #"[{"percent": 10}, {"at": "2999-12-02T00:00:00Z"}]"#
            try await fixture.sql("DO $$ BEGIN PERFORM pushmta.set_waves(\(id), '\(other)'); END $$")
        }
        // As a day later, when nobody has started it.
        let longAgo = "frozen_until = now() - interval '2 days'"
        try await fixture.sql("UPDATE pushmta_engine.delivery SET \(longAgo) WHERE id = \(id)")
        _ = try await fixture.store.dropOldAnalyses(limit: 10)
        let run = try await fixture.store.runRecurrence(id)
        let moved =
            switch change {
            case "start": "reschedule_delivery(\(run), now() + interval '5 hours')"
            case "day": "set_local_time(\(run), current_date + 9 + time '09:00', 'now')"
            case "wave": #"set_waves(\#(run), '[{"percent": 10}, {"at": "2999-12-03T00:00:00Z"}]')"#
            default: ""
            }
        if !moved.isEmpty { try await fixture.sql("SELECT count(*) FROM (SELECT pushmta.\(moved)) c") }
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET analysed = true, prepared = true, target = 100 WHERE id = \(run)"
        )
        let objection = try await fixture.store.approval(ofDelivery: run).objection
        switch change {
        case "nothing": #expect(objection == "")
        case "start": #expect(objection.contains("its start is not the one"))
        default: #expect(objection.contains("changed after its approval"))
        }
    }

    @Test("What needs no approval cannot be rejected")
    func needless() async throws {
        let (fixture, id) = try await analysed()
        try await fixture.store.setApprovalRule(service: "shop", above: 100)
        #expect(try await refusal { try await fixture.store.rejectDelivery(id, reason: "no") } == "PM182")
        try await fixture.store.setApprovalRule(service: "shop", above: nil)
        #expect(try await refusal { try await fixture.store.rejectDelivery(id, reason: "no") } == "PM182")
        #expect(try await fixture.store.deliveryProgress(id).state == .ready)
    }

    @Test(
        "An approval for a start with which nothing can compute is refused",
        arguments: ["infinity", "3000-01-01T00:00:00Z"]
    )
    func endless(start: String) async throws {
        let (fixture, id) = try await analysed()
        #expect(
            try await refusal {
                try await key("bert") { try await fixture.store.approveDelivery(id, comment: "", startAt: start) }
            } == "PM007"
        )
    }

    @Test("A proof is not a way around")
    func proof() async throws {
        let (fixture, id) = try await edited()
        let all = "ARRAY(SELECT s.id FROM pushmta_engine.subscription s)"
        let refused = await #expect(throws: PostgresError.self) {
            try await fixture.sql("SELECT pushmta.proof_delivery(\(id), subscription_ids => \(all))")
        }
        #expect(refused?.sqlState == "PM186")
        try await fixture.sql("SELECT pushmta.proof_delivery(\(id), subscription_ids => (\(all))[1:3])")
    }
}
