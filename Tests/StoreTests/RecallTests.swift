import LaboratoryStore
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The recall of a delivery")
struct RecallTests {
    private static let content = #"{"ios": {"title": "Sale", "collapse_id": "sale"}}"#
    private static let replacement = #"{"ios": {"title": "Sorry"}, "android": {"title": "Sorry"}}"#

    /// A delivery to 40 subscribers in two parts. Of the first, 12 messages are sent, 3 failed and 5 ambiguous; the
    /// second is not claimed.
    private func underWay(_ content: String = content) async throws -> (StoreFixture, Int64) {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 40)
        // What replaces or removes a message goes out all the same.
        try await fixture.store.setFrequencyCap(
            FrequencyCapRow(service: "shop", name: "day", maxMessages: 1, unit: .days)
        )
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: content)
        )
        try await fixture.store.startDelivery(id)
        try await fixture.prepare(partSize: 20)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<12, .sent)
        batch.append(part, loaded, rows: 12..<15, .failed, reason: "BadDeviceToken")
        _ = try await fixture.store.storeOutcomes(batch)
        let recovery = PartRecovery(ambiguous: Array(loaded.sequences[15..<20]), softAnswers: [])
        #expect(try await fixture.store.releasePart(PartToken(part: part.id, token: 1), recovery: recovery))
        return (fixture, id)
    }

    private func report(_ fixture: StoreFixture, _ id: Int64) async throws -> RecallReport {
        let report = try required(try await fixture.store.recallReport(ofDelivery: id))
        let seen = report.replaced + report.removed + report.unreached + report.tooLate
        let sum = report.pending + report.unsent + seen
        #expect(report.target == sum, "\(report)")
        #expect(try await fixture.assertEquation(id))
        return report
    }

    private func refusal(_ act: () async throws -> Void) async throws -> String? {
        do {
            try await act()
            return nil
        } catch let error as StoreError { return error.sqlState }
    }

    @Test("What has not left stops, and the report adds up before and after the end")
    func stopped() async throws {
        let (fixture, id) = try await underWay()
        #expect(try await fixture.store.recallReport(ofDelivery: id) == nil)
        #expect(try await fixture.store.recallDelivery(id, reason: "wrong price") == nil)
        let early = try await report(fixture, id)
        #expect(early.mode == .stop && early.reason == "wrong price" && early.child == nil)
        #expect(early.unsent == 23 && early.tooLate == 12 && early.pending == 5)
        #expect(try await fixture.claim(limit: 10).isEmpty)
        _ = try await fixture.store.finishRest()
        let late = try await report(fixture, id)
        #expect(late.unsent == 23 && late.tooLate == 17 && late.pending == 0)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .recalled && progress.finishedAt != nil && progress.unknown == 5)
        let counts = try await fixture.store.outcomeCounts(delivery: id)
        #expect(counts.contains(OutcomeCount(status: .canceled, reason: "recalled", count: 20)))
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
        try await fixture.store.stopDelivery(id)
        #expect(try await fixture.store.deliveryProgress(id).state == .recalled)
    }

    @Test("Who recalls a delivery has made its second one, not the process that lists its targets")
    func maker() async throws {
        let (fixture, id) = try await underWay()
        let child = try await AuditCaller.$current.withValue("API key mia") {
            try await AuditCaller.$key.withValue("mia") {
                try required(
                    try await fixture.store.recallDelivery(id, reason: "r", mode: .replace, content: Self.replacement)
                )
            }
        }
        _ = try await fixture.store.finishRest()
        while try await fixture.store.listRecalled() {}
        #expect(try await fixture.store.approval(ofDelivery: child).makers == ["API key mia"])
        #expect(try await fixture.store.recallReport(ofDelivery: id)?.givenUpBy == "")
        try await fixture.store.stopDelivery(child)
        #expect(try await fixture.store.recallReport(ofDelivery: id)?.givenUpBy.hasPrefix("login ") == true)
    }

    @Test("A second delivery replaces what may have been seen and was not opened, once all outcomes are stored")
    func replaced() async throws {
        let (fixture, id) = try await underWay()
        let child = try required(
            try await fixture.store.recallDelivery(id, reason: "r", mode: .replace, content: Self.replacement)
        )
        #expect(try await fixture.store.replaceablePlatforms(ofDelivery: id) == [.ios])
        #expect(try await fixture.store.delivery(recalledBy: child) == id)
        #expect(try await fixture.store.delivery(recalledBy: id) == nil)
        #expect(try await !fixture.store.listRecalled(parts: 1), "its ambiguous messages have no outcome yet")
        _ = try await fixture.store.finishRest()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.tracking_log (delivery_id, subscription_id, sequence, log_day, kind)
            SELECT b.delivery_id, b.subscription_id, b.sequence, b.log_day, 2 FROM pushmta_engine.broad_log b
            WHERE b.delivery_id = \(id) AND b.sequence = 3
            """
        )
        var rounds = 0
        while try await fixture.store.listRecalled(parts: 1) { rounds += 1 }
        #expect(rounds == 3, "each part, and the end")
        let kept = "content #>> '{ios,collapse_id}' = 'sale' AND content #>> '{ios,title}' = 'Sorry'"
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery WHERE id = \(child) AND \(kept)") == 1
        )
        let progress = try await fixture.store.deliveryProgress(child)
        #expect(progress.state == .pending && progress.label == "Recall: Sale")
        try await fixture.prepare(partSize: 100)
        #expect(
            try await fixture.store.deliveryProgress(child).target == 16,
            "12 sent and 5 unknown, without one opened"
        )
        #expect(try await report(fixture, id).replaced == 0)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<10, .sent)
        _ = try await fixture.store.storeOutcomes(batch)
        let told = try await report(fixture, id)
        #expect(told.replaced == 10 && told.unreached == 6 && told.removed == 0 && told.child == child)
        #expect(told.tooLate == 1, "somebody had opened it")
        // What its end leaves is never replaced, but that is no reason to count it as opened.
        try await fixture.store.stopDelivery(child)
        let stopped = try await report(fixture, id)
        #expect(stopped.replaced == 10 && stopped.unreached == 6 && stopped.tooLate == 1)
        #expect(try await refusal { try await fixture.store.recallDelivery(id, reason: "again") } == "PM185")
        #expect(try await refusal { try await fixture.store.recallDelivery(child, reason: "again") } == "PM185")
    }

    /// Sends the first messages of the claimed part of a second delivery, leaves the others ambiguous, and stops it.
    private func end(_ fixture: StoreFixture, _ child: Int64, sent: Int) async throws {
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<sent, .sent)
        _ = try await fixture.store.storeOutcomes(batch)
        let recovery = PartRecovery(ambiguous: Array(loaded.sequences[sent...]), softAnswers: [])
        #expect(try await fixture.store.releasePart(PartToken(part: part.id, token: 1), recovery: recovery))
        try await fixture.store.stopDelivery(child)
    }

    @Test("Once its second delivery has ended, a delivery is recalled again, and the report counts the present one")
    func corrected() async throws {
        let (fixture, id) = try await underWay()
        var seconds: [Int64] = []
        for (number, sent) in [10, 16].enumerated() {
            let reason = "reason \(number)"
            let second = try required(
                try await fixture.store.recallDelivery(id, reason: reason, mode: .replace, content: Self.replacement)
            )
            seconds.append(second)
            #expect(try await !fixture.store.listRecalled(), "the last outcome of the one before is not stored")
            _ = try await fixture.store.finishRest()
            let told = try await report(fixture, id)
            #expect(told.child == second && told.replaced == 0 && told.unreached == 17 && told.givenUpBy == "")
            // The page shows one reason.
            #expect(told.reason == reason)
            #expect(try await fixture.store.deliveryProgress(id).stateReason == reason)
            while try await fixture.store.listRecalled() {}
            try await fixture.prepare(partSize: 100)
            #expect(try await fixture.store.deliveryProgress(second).target == 17)
            #expect(try await fixture.store.runningRecall(ofDelivery: id) == second)
            #expect(
                try await refusal { try await fixture.store.recallDelivery(id, reason: "r", mode: .remove) } == "PM185"
            )
            try await end(fixture, second, sent: sent)
            #expect(try await fixture.store.runningRecall(ofDelivery: id) == nil)
            #expect(try await report(fixture, id).replaced == Int64(sent))
        }
        #expect(try await refusal { try await fixture.store.recallDelivery(id, reason: "r") } == "PM185")
        // What devices show now may be any of them.
        let last = try required(try await fixture.store.recallDelivery(id, reason: "r", mode: .remove))
        _ = try await fixture.store.finishRest()
        while try await fixture.store.listRecalled() {}
        let names = ([id] + seconds).map { String($0, radix: 16) }.joined(separator: ",")
        let named = "content #>> '{ios,variables,_recall}' = '\(names)'"
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery WHERE id = \(last) AND \(named)") == 1
        )
        try await fixture.prepare(partSize: 100)
        let people = "SELECT x.subscription_id FROM pushmta_engine.broad_log x WHERE x.delivery_id = \(id)"
        for (delivery, chosen) in [(id, "sequence <= 2"), (seconds[1], "sequence <= 4")] {
            try await fixture.sql(
                """
                INSERT INTO pushmta_engine.tracking_log (delivery_id, subscription_id, sequence, log_day, kind)
                SELECT b.delivery_id, b.subscription_id, b.sequence, b.log_day, 3 FROM pushmta_engine.broad_log b
                WHERE b.delivery_id = \(delivery) AND b.subscription_id IN (\(people) AND x.\(chosen))
                """
            )
        }
        // Two of the four devices have said it of both messages.
        let told = try await report(fixture, id)
        #expect(told.removed == 4 && told.replaced == 0 && told.unreached == 13 && told.tooLate == 0)
    }

    @Test("Devices say which notifications they removed")
    func removed() async throws {
        let (fixture, id) = try await underWay(#"{"ios": {"title": "Sale"}}"#)
        #expect(try await fixture.store.replaceablePlatforms(ofDelivery: id).isEmpty)
        #expect(
            try await refusal {
                try await fixture.store.recallDelivery(id, reason: "r", mode: .replace, content: Self.replacement)
            } == "PM185"
        )
        let child = try required(try await fixture.store.recallDelivery(id, reason: "r", mode: .remove))
        let silent =
            "content #>> '{ios,silent}' = 'true' AND content #>> '{ios,variables,_recall}' = to_hex(\(id)::bigint)"
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery WHERE id = \(child) AND \(silent)") == 1
        )
        _ = try await fixture.store.finishRest()
        while try await fixture.store.listRecalled() {}
        try await fixture.prepare(partSize: 100)
        #expect(try await fixture.store.deliveryProgress(child).target == 17)
        // A failed message was never seen, whatever a device says.
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.tracking_log (delivery_id, subscription_id, sequence, log_day, kind)
            SELECT b.delivery_id, b.subscription_id, b.sequence, b.log_day, 3 FROM pushmta_engine.broad_log b
            WHERE b.delivery_id = \(id) AND b.sequence BETWEEN 11 AND 14
            """
        )
        let told = try await report(fixture, id)
        #expect(told.removed == 2 && told.replaced == 0 && told.unreached == 15 && told.tooLate == 0)
        // Before the logs of its day are deleted.
        try await fixture.sql(
            """
            SELECT count(*) FROM (SELECT pushmta_engine.keep_removed(d.log_day) FROM pushmta_engine.delivery d WHERE d.id = \(id)) k
            """
        )
        try await fixture.sql("DELETE FROM pushmta_engine.tracking_log")
        let kept = try await report(fixture, id)
        #expect(kept.removed == 2 && kept.unreached == 15)
    }

    @Test(
        "A number of the report keeps its meaning: what was opened is too late from the recall on, and the rest is not",
        arguments: [true, false]
    )
    func lasting(isListed: Bool) async throws {
        let (fixture, id) = try await underWay()
        let child = try required(
            try await fixture.store.recallDelivery(id, reason: "r", mode: .replace, content: Self.replacement)
        )
        _ = try await fixture.store.finishRest()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.tracking_log (delivery_id, subscription_id, sequence, log_day, kind)
            SELECT b.delivery_id, b.subscription_id, b.sequence, b.log_day, 2 FROM pushmta_engine.broad_log b
            WHERE b.delivery_id = \(id) AND b.sequence BETWEEN 3 AND 6
            """
        )
        var reports = [try await report(fixture, id)]
        if isListed {
            while try await fixture.store.listRecalled() {}
            reports.append(try await report(fixture, id))
            try await fixture.prepare(partSize: 100)
            reports.append(try await report(fixture, id))
        }
        try await fixture.store.stopDelivery(child)
        while try await fixture.store.listRecalled() {}
        reports.append(try await report(fixture, id))
        #expect(reports.map(\.unreached) == reports.map { _ in 13 })
        #expect(reports.map(\.tooLate) == reports.map { _ in 4 })
        guard !isListed else { return }
        // A rejection drops the messages of the next one.
        let other = try required(
            try await fixture.store.recallDelivery(id, reason: "r", mode: .replace, content: Self.replacement)
        )
        while try await fixture.store.listRecalled() {}
        #expect(try await fixture.store.returnDelivery(other, reason: "bert rejected it: typo") == .stopped)
        let rejected = try await report(fixture, id)
        #expect(rejected.unreached == 13 && rejected.tooLate == 4)
    }

    /// The SQLSTATE of a refused call in SQL; nil if it was not refused.
    private func refusal(_ fixture: StoreFixture, _ call: String) async throws -> String? {
        do {
            try await fixture.sql("SELECT count(*) FROM (SELECT pushmta.\(call)) c")
            return nil
        } catch let error as PostgresError { return error.sqlState }
    }

    @Test(
        "Only the recall says what its second delivery sends, and to whom; stopped in time, it is replaced by another one"
    )
    func unchanged() async throws {
        let (fixture, id) = try await underWay()
        try await fixture.store.createExclusionList(name: "vip")
        let child = try required(try await fixture.store.recallDelivery(id, reason: "r", mode: .remove))
        let changes = [
            #"update_delivery(\#(child), content => '{"ios": {"title": "Sale"}}')"#,
            "update_delivery(\(child), priority => 1)", "set_target(\(child), exclude => '{vip}')",
            "set_target(\(child), allow_duplicates => false)", "set_seeds(\(child))", "set_one_time_code(\(child))",
            "set_retry_schedule(\(child), 'daily')", #"set_waves(\#(child), '[{"count": 1}, {}]')"#,
            "set_recurrence(\(child), 'days', 'UTC', '{09:00}')", "reschedule_delivery(\(child), NULL)",
            "make_continuous(\(child))", "add_targets(\(child), '{ada}', NULL, NULL, NULL)",
        ]
        for change in changes {
            #expect(try await refusal(fixture, change) == "PM185", "\(change)")
        }
        _ = try await fixture.store.finishRest()
        while try await fixture.store.listRecalled() {}
        #expect(try await fixture.store.deliveryProgress(child).state == .pending)
        #expect(try await refusal(fixture, "reschedule_delivery(\(child), NULL)") == "PM185")
        #expect(try await refusal(fixture, "recall_delivery(\(id), 'r', 'remove')") == "PM185")
        try await fixture.store.stopDelivery(child)
        let other = try required(
            try await fixture.store.recallDelivery(id, reason: "r", mode: .replace, content: Self.replacement)
        )
        while try await fixture.store.listRecalled() {}
        #expect(try await fixture.store.deliveryProgress(other).state == .pending)
        try await fixture.prepare(partSize: 100)
        #expect(try await fixture.store.deliveryProgress(other).target == 17)
        #expect(try await report(fixture, id).child == other)
    }

    @Test(
        "A message is replaced only if that works in each locale of each variant",
        arguments: [
            (#""locales": {"de": {"ios": {"title": "c", "collapse_id": "own"}}}"#, false),
            (#""locales": {"de": {"ios": {"title": "c", "collapse_id": null}}}"#, false),
            (#""locales": {"de": {"ios": {"title": "c"}}}"#, true),
            (#""locales": {"de": {"ios": {"title": "c", "collapse_id": "sale"}}}"#, true),
        ]
    )
    func localeKeys(locales: String, works: Bool) async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: Self.content)
        )
        let variant = #"{"ios": {"title": "b", "collapse_id": "sale"}, \#(locales)}"#
        try await fixture.sql(
            """
            DO $$ BEGIN
                PERFORM pushmta.set_experiment(\(id), '[{"percent": 50}, {"percent": 50, "content": \(variant)}]');
            END $$
            """
        )
        #expect(try await fixture.store.replaceablePlatforms(ofDelivery: id) == (works ? [.ios] : []))
    }

    @Test(
        "A recall whose second delivery is locked or stopped holds up no other; nobody else starts that delivery",
        .timeLimit(.minutes(2))
    )
    func others() async throws {
        let (fixture, id) = try await underWay()
        let first = try required(try await fixture.store.recallDelivery(id, reason: "r", mode: .remove))
        _ = try await fixture.store.finishRest()
        // The frequency cap leaves everybody out.
        let other = try await fixture.startedDelivery()
        try await fixture.prepare()
        _ = try await fixture.store.finishRest()
        let second = try required(try await fixture.store.recallDelivery(other, reason: "r", mode: .remove))
        #expect(try await refusal { try await fixture.store.startDelivery(first) } == "PM008")
        #expect(try await refusal { try await fixture.store.analyzeDelivery(first) } == "PM008")
        let holder = try await fixture.hold("SELECT FROM pushmta_engine.delivery WHERE id = \(first) FOR UPDATE")
        while try await fixture.store.listRecalled() {}
        #expect(try await fixture.store.deliveryProgress(second).state == .pending)
        try await holder.run(script: "ROLLBACK")
        await holder.close()
        try await fixture.store.stopDelivery(first)
        while try await fixture.store.listRecalled() {}
        let open = try await fixture.sql("SELECT count(*) FROM pushmta_engine.recall WHERE listed_at IS NULL")
        #expect(open == 0)
        #expect(try await fixture.store.deliveryProgress(first).state == .stopped)
    }

    @Test("A replacement has a text for each language")
    func replacedByLocale() async throws {
        let (fixture, id) = try await underWay(
            #"{"ios": {"title": "Sale", "collapse_id": "sale"}, "locales": {"fr": {"ios": {"title": "Soldes"}}}}"#
        )
        let content = #"{"ios": {"title": "Sorry"}, "locales": {"fr": {"ios": {"title": "Pardon"}}}}"#
        let child = try required(
            try await fixture.store.recallDelivery(id, reason: "r", mode: .replace, content: content)
        )
        let kept = try await fixture.store.content(ofDelivery: child)
        let wanted =
            #"{"ios": {"title": "Sorry", "collapse_id": "sale"}, "locales": {"fr": {"ios": {"title": "Pardon"}}}}"#
        #expect(try await fixture.sql("SELECT count(*) WHERE '\(kept)'::jsonb = '\(wanted)'::jsonb") == 1)
        // A key of a locale is kept, too, and a content with an error is refused.
        let (other, second) = try await underWay(
            #"{"ios": {"title": "Sale", "collapse_id": "a"}, "locales": {"fr": {"ios": {"collapse_id": "b"}}}}"#
        )
        let wrong = #"{"ios": {"title": "Sorry"}, "locales": {"fr": {"ios": {"titel": "Pardon"}}}}"#
        #expect(
            try await refusal {
                _ = try await other.store.recallDelivery(second, reason: "r", mode: .replace, content: wrong)
            } != nil
        )
        let last = try required(
            try await other.store.recallDelivery(second, reason: "r", mode: .replace, content: content)
        )
        let key = "content #>> '{locales,fr,ios,collapse_id}' = 'b'"
        #expect(try await other.sql("SELECT count(*) FROM pushmta_engine.delivery WHERE id = \(last) AND \(key)") == 1)
    }

    @Test("A replacement needs an approval like any other delivery, a removal does not", arguments: RecallMode.allCases)
    func approved(mode: RecallMode) async throws {
        let (fixture, id) = try await underWay()
        try await fixture.store.setApprovalRule(service: "shop", above: 10)
        let content = mode == .replace ? Self.replacement : nil
        let child = try await fixture.store.recallDelivery(id, reason: "r", mode: mode, content: content)
        _ = try await fixture.store.finishRest()
        while try await fixture.store.listRecalled() {}
        guard let child else {
            #expect(mode == .stop)
            return
        }
        try await fixture.prepare(partSize: 100)
        let state = try await fixture.store.deliveryProgress(child).state
        #expect(state == (mode == .replace ? .pending : .inProgress))
    }

    @Test(
        "A replacement that is rejected, or not approved in time, is stopped, and its delivery can be recalled again",
        arguments: [true, false]
    )
    func returned(isRejected: Bool) async throws {
        let (fixture, id) = try await underWay()
        try await fixture.store.setApprovalRule(service: "shop", above: 10)
        let child = try required(
            try await fixture.store.recallDelivery(id, reason: "r", mode: .replace, content: Self.replacement)
        )
        _ = try await fixture.store.finishRest()
        while try await fixture.store.listRecalled() {}
        try await fixture.prepare(partSize: 100)
        if isRejected {
            #expect(try await fixture.store.returnDelivery(child, reason: "bert rejected it: typo") == .stopped)
        } else {
            try await fixture.sql("UPDATE pushmta_engine.delivery SET valid_until = now() WHERE id = \(child)")
            try await fixture.store.openGates()
            let remedy = "SELECT count(*) FROM pushmta.delivery_problem WHERE remedy = 'recall delivery \(id) again'"
            #expect(try await fixture.sql(remedy) == 1)
        }
        let progress = try await fixture.store.deliveryProgress(child)
        #expect(progress.state == .stopped && progress.finishedAt != nil && !progress.stateReason.isEmpty)
        #expect(try await fixture.alarms("delivery_returned").map(\.subject) == ["\(child)"])
        let other = try required(
            try await fixture.store.recallDelivery(id, reason: "r", mode: .replace, content: Self.replacement)
        )
        while try await fixture.store.listRecalled() {}
        #expect(try await fixture.store.deliveryProgress(other).state == .pending)
        #expect(try await report(fixture, id).child == other)
        // The first one is still no delivery of its own, and needs nobody any more.
        for second in [child, other] { #expect(try await fixture.store.delivery(recalledBy: second) == id) }
        #expect(try await refusal { try await fixture.store.recallDelivery(child, reason: "r") } == "PM185")
        #expect(try await fixture.alarms("delivery_returned").isEmpty)
    }

    @Test("A replacement that goes to only one of several services leaves out who opted out there")
    func otherService() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.addBank()
        let content = #"{"ios": {"title": "Sale", "collapse_id": "sale"}, "android": {"title": "Sale"}}"#
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-android", "bank-ios"], content: content)
        )
        try await fixture.store.startDelivery(id)
        try await fixture.prepare(partSize: 100)
        let part = try required(try await fixture.claim("bank-ios").first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<6, .sent)
        _ = try await fixture.store.storeOutcomes(batch)
        let recovery = PartRecovery(ambiguous: [], softAnswers: [])
        #expect(try await fixture.store.releasePart(PartToken(part: part.id, token: 1), recovery: recovery))
        let child = try required(
            try await fixture.store.recallDelivery(id, reason: "r", mode: .replace, content: Self.replacement)
        )
        _ = try await fixture.store.finishRest()
        try await fixture.store.setOptOut(loaded.subscriptionIDs[1], category: "marketing", true)
        while try await fixture.store.listRecalled() {}
        try await fixture.prepare(partSize: 100)
        let progress = try await fixture.store.deliveryProgress(child)
        #expect(progress.target == 5 && progress.excluded == 1)
        let service = """
            SELECT count(*) FROM pushmta_engine.delivery d JOIN pushmta_engine.category k ON k.id = d.category_id
            JOIN pushmta_engine.service v ON v.id = k.service_id WHERE d.id = \(child) AND v.name = 'bank' AND k.name = 'marketing'
            """
        #expect(try await fixture.sql(service) == 1)
    }

    @Test("What was not started, or has no reason, is not recalled; what has ended is")
    func refused() async throws {
        let (fixture, id) = try await underWay()
        let other = try await fixture.store.createDelivery(
            NewDelivery(label: "Other", applications: ["shop-ios"], content: Self.content)
        )
        #expect(try await refusal { try await fixture.store.recallDelivery(other, reason: "r") } == "PM008")
        #expect(try await refusal { try await fixture.store.recallDelivery(id, reason: " ") } == "PM007")
        #expect(
            try await refusal { try await fixture.store.recallDelivery(id, reason: "r", mode: .replace) } == "PM007"
        )
        #expect(try await refusal { try await fixture.store.recallDelivery(999, reason: "r") } == "PM002")
        try await fixture.store.stopDelivery(id)
        _ = try await fixture.store.finishRest()
        try await fixture.store.recallDelivery(id, reason: "r")
        let again = try await fixture.store.recallDelivery(id, reason: "r", mode: .remove)
        #expect(again != nil)
        #expect(try await report(fixture, id).recalledBy.hasPrefix("login "))
        try await fixture.store.startDelivery(other, at: "2999-12-01T00:00:00Z")
        try await fixture.store.recallDelivery(other, reason: "r")
        let progress = try await fixture.store.deliveryProgress(other)
        #expect(progress.state == .recalled && progress.finishedAt != nil)
    }
}
