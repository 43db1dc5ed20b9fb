import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The analysis of a delivery")
struct AnalysisTests {
    /// A delivery to this many subscribers, not started.
    private func edited(_ subscribers: Int64 = 250) async throws -> (StoreFixture, Int64) {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: subscribers)
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "Hi"}}"#)
        )
        return (fixture, id)
    }

    /// Prepares what is to be prepared, as a supervisor does.
    private func prepare(_ fixture: StoreFixture, freezeSeconds: Int = 3_600) async throws {
        while let job = try await fixture.store.claimDeliveriesToPrepare(host: "a", freezeSeconds: freezeSeconds).first
        {
            while true {
                let chunk = try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3)
                guard chunk.done else { continue }
                if chunk.isHeld { _ = try await fixture.store.endAnalysis(of: job, AnalysisFindings()) }
                break
            }
        }
    }

    private func start(_ fixture: StoreFixture, _ id: Int64, after interval: String) async throws {
        try await fixture.sql(
            "DO $$ BEGIN PERFORM pushmta.start_delivery(\(id), now() + interval '\(interval)'); END $$"
        )
    }

    private func state(_ fixture: StoreFixture, _ id: Int64) async throws -> DeliveryState {
        try await fixture.store.deliveryProgress(id).state
    }

    @Test("It makes and counts the messages, and none is ready before the start")
    func analysed() async throws {
        let (fixture, id) = try await edited()
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET locale = 'de', time_zone = 'Europe/Berlin' WHERE id % 5 = 0"
        )
        try await fixture.store.analyzeDelivery(id)
        #expect(try await state(fixture, id) == .analysing)
        try await prepare(fixture)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .ready && progress.target == 250 && progress.pending == 250)
        #expect(try await fixture.parts(id, "held") > 0)
        #expect(try await fixture.claim(limit: 10).isEmpty)
        let counted = try await fixture.sql(
            "SELECT sum(messages)::bigint FROM pushmta.delivery_count WHERE delivery_id = \(id)"
        )
        #expect(counted == 250)
        let german = try await fixture.sql(
            "SELECT messages FROM pushmta.delivery_count WHERE delivery_id = \(id) AND locale = 'de' AND time_zone = 'Europe/Berlin'"
        )
        #expect(german == 50)
        #expect(try await fixture.assertEquation(id))
    }

    @Test("What it found can be read: numbers, exclusions by reason, times")
    func readable() async throws {
        let (fixture, id) = try await edited()
        await #expect(throws: StoreError.self) { _ = try await fixture.store.analysis(ofDelivery: id) }
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id % 5 = 0")
        try await fixture.sql("UPDATE pushmta_engine.subscription SET locale = 'is' WHERE id % 5 = 1")
        try await fixture.store.analyzeDelivery(id)
        #expect(try await fixture.store.analysis(ofDelivery: id).finishedAt == nil)
        try await prepare(fixture)
        let row = try await fixture.store.analysis(ofDelivery: id)
        #expect(row.state == .ready && row.messages == 200 && row.excluded == 50 && row.finishedAt != nil)
        let counts = try await fixture.store.counts(ofDelivery: id)
        #expect(counts.reduce(0) { $0 + $1.messages } == 200)
        #expect(counts.first { $0.locale == "is" }?.messages == 50)
        #expect(counts.map(\.messages) == counts.map(\.messages).sorted(by: >))
        #expect(try await fixture.store.counts(ofDelivery: id, limit: 1).count == 1)
        let exclusions = try await fixture.store.exclusionCounts(delivery: id)
        #expect(exclusions == [OutcomeCount(status: nil, reason: "opted_out", count: 50)])
        #expect(try await fixture.store.problems(ofDelivery: id).isEmpty)
    }

    @Test("A start releases the first messages at once, and a supervisor the others")
    func released() async throws {
        let (fixture, id) = try await edited(2_500)
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        let held = try await fixture.parts(id, "held")
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.parts(id, "ready") == 50)
        #expect(try await state(fixture, id) == .preparing)
        try await prepare(fixture)
        #expect(try await fixture.parts(id, "ready") == held)
        #expect(try await state(fixture, id) == .inProgress)
        #expect(try await fixture.assertEquation(id))
    }

    @Test("After a change of its application the start prepares it again, and says so")
    func changedSince() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        try await fixture.sql(
            "UPDATE pushmta_engine.application SET bundle_id = 'io.acme.other' WHERE name = 'shop-ios'"
        )
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        try await fixture.store.startDelivery(id)
        #expect(try await state(fixture, id) == .pending)
        let said = try await fixture.sql(
            "SELECT count(*) FROM pushmta.delivery_analysis WHERE delivery_id = \(id) AND remade_because LIKE '%has changed%'"
        )
        #expect(said == 1)
        try await prepare(fixture)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .inProgress && progress.target == 260)
    }

    @Test("Of several starts whose messages are to be dropped, one is claimed at a time")
    func oneDropAtATime() async throws {
        let (fixture, first) = try await edited()
        try await fixture.store.seedSubscriptions(application: "shop-android", count: 20)
        var ids = [first]
        for application in ["shop-ios", "shop-android", "shop-android"] {
            ids.append(
                try await fixture.store.createDelivery(
                    NewDelivery(
                        label: "Sale",
                        applications: [application],
                        content: #"{"ios": {"title": "Hi"}, "android": {"title": "Hi"}}"#
                    )
                )
            )
        }
        for id in ids { try await start(fixture, id, after: "30 minutes") }
        try await prepare(fixture)
        try await fixture.sql(
            "UPDATE pushmta_engine.application SET bundle_id = 'io.acme.other' WHERE name = 'shop-ios'"
        )
        try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = now()")
        var claimed: [[Int64]] = []
        while true {
            let jobs = try await fixture.store.claimDeliveriesToPrepare(
                host: "a",
                except: claimed.flatMap(\.self),
                limit: 10
            )
            guard !jobs.isEmpty else { break }
            claimed.append(jobs.map(\.deliveryID).sorted())
        }
        #expect(claimed == [[ids[0], ids[2], ids[3]], [ids[1]]])
        #expect(try await fixture.parts(ids[2], "held") > 0)
        #expect(try await fixture.parts(ids[1], "held") == 0)
    }

    @Test("An opt-out after the analysis counts")
    func optedOutSince() async throws {
        let (fixture, id) = try await edited(3)
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = (SELECT min(id) FROM pushmta_engine.subscription)"
        )
        try await fixture.store.startDelivery(id)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, MessageFields(names: []))
        #expect(loaded.decisions.count { $0.isSendable } == 2)
    }

    @Test("A scheduled delivery is prepared within the hour before its start, and released when it is due")
    func scheduled() async throws {
        let (fixture, id) = try await edited()
        try await start(fixture, id, after: "30 minutes")
        try await prepare(fixture, freezeSeconds: 600)
        #expect(try await fixture.parts(id, "held") == 0, "it is too early")
        try await prepare(fixture)
        #expect(try await fixture.parts(id, "held") > 0)
        #expect(try await state(fixture, id) == .pending)
        #expect(try await fixture.claim().isEmpty)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = now() WHERE id = \(id)")
        try await prepare(fixture)
        #expect(try await fixture.parts(id, "held") == 0)
        #expect(try await state(fixture, id) == .inProgress)
        #expect(try await fixture.store.deliveryProgress(id).target == 250)
        #expect(try await fixture.assertEquation(id))
    }

    @Test("A small delivery that was prepared early starts, and ends its preparation, with one chunk")
    func releasedAtOnce() async throws {
        let (fixture, id) = try await edited()
        try await start(fixture, id, after: "30 minutes")
        try await prepare(fixture)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = now() WHERE id = \(id)")
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        let chunk = try await fixture.store.prepareChunk(job)
        #expect(chunk.done && chunk.parts > 0)
        #expect(try await state(fixture, id) == .inProgress)
    }

    @Test("A start long after the analysis drops it, so that devices registered since are reached")
    func startedLater() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        try await start(fixture, id, after: "2 hours")
        #expect(try await fixture.parts(id, "held") == 0)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .pending && progress.target == 0 && progress.pending == 0)
        let kept = try await fixture.store.analysis(ofDelivery: id)
        #expect(kept.messages == 250 && kept.finishedAt != nil && !kept.isFinished && kept.wasTooOld)
        #expect(try await fixture.store.counts(ofDelivery: id).reduce(0) { $0 + $1.messages } == 250)
    }

    @Test("A forgotten one is dropped, and keeps no partition")
    func forgotten() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        #expect(try await fixture.store.dropOldAnalyses() == 0)
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET frozen_until = now() - interval '2 days' WHERE id = \(id)"
        )
        #expect(try await fixture.store.dropOldAnalyses() == 1)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .editing && progress.stateReason.isEmpty)
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_part WHERE delivery_id = \(id)") == 0
        )
    }

    @Test("An analysis that does not end is dropped, too")
    func endless() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.analyzeDelivery(id)
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        _ = try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3)
        #expect(try await fixture.store.dropOldAnalyses() == 0)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery SET frozen_until = now() - interval '2 days', wait_reason = 'its view is away'
            WHERE id = \(id)
            """
        )
        #expect(try await fixture.store.dropOldAnalyses() == 1)
        #expect(try await state(fixture, id) == .editing)
        #expect(try await fixture.parts(id, "held") == 0)
        let row = try await fixture.store.analysis(ofDelivery: id)
        #expect(row.remadeBecause == "it was not complete within a day: its view is away")
    }

    @Test("A change of what it sends ends an analysis, and the next one says so")
    func changedByItsAuthor() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        try await fixture.sql(
            "DO $$ BEGIN PERFORM pushmta.update_delivery(\(id), content => '{\"ios\": {\"title\": \"b\"}}'); END $$"
        )
        let ended = try await fixture.store.analysis(ofDelivery: id)
        #expect(ended.state == .editing && !ended.isFinished && ended.finishedAt == nil && ended.messages == 0)
        #expect(ended.remadeBecause == "its content, target or settings were changed")
        try await start(fixture, id, after: "30 minutes")
        try await prepare(fixture)
        let again = try await fixture.store.analysis(ofDelivery: id)
        #expect(again.isFinished && again.messages == 250 && again.remadeBecause == ended.remadeBecause)
        // Somebody who asks for one knows that it is new.
        try await fixture.sql("DO $$ BEGIN PERFORM pushmta.reschedule_delivery(\(id), NULL); END $$")
        try await fixture.store.analyzeDelivery(id)
        #expect(try await fixture.store.analysis(ofDelivery: id).remadeBecause.isEmpty)
    }

    @Test("Problems lead back to editing, with a list")
    func problems() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.analyzeDelivery(id)
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        while try await !fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3).done {}
        var findings = AnalysisFindings()
        findings.problems = [
            DeliveryProblem(subject: "content", pointer: "/ios/title", problem: "it is too long", remedy: "shorten it")
        ]
        #expect(try await fixture.store.endAnalysis(of: job, findings) == .editing)
        let kept = try await fixture.sql(
            "SELECT count(*) FROM pushmta.delivery_problem WHERE delivery_id = \(id) AND pointer = '/ios/title'"
        )
        #expect(kept == 1)
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_part WHERE delivery_id = \(id)") == 0
        )
        try await fixture.store.analyzeDelivery(id)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta.delivery_problem WHERE delivery_id = \(id)") == 0)
    }

    @Test("Problems of a scheduled delivery lead back to editing, too")
    func problemsBeforeTheStart() async throws {
        let (fixture, id) = try await edited()
        try await start(fixture, id, after: "30 minutes")
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        while try await !fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3).done {}
        var findings = AnalysisFindings()
        findings.problems = [
            DeliveryProblem(subject: "content", pointer: "", problem: "it is too long", remedy: "shorten it")
        ]
        #expect(try await fixture.store.endAnalysis(of: job, findings) == .editing)
        #expect(try await fixture.store.problems(ofDelivery: id).count == 1)
        #expect(try await fixture.parts(id, "held") == 0)
    }

    @Test("A stop and a pause reach held messages")
    func stopped() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        try await fixture.store.stopDelivery(id)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .stopped && progress.canceled == 250)
        #expect(try await fixture.assertEquation(id))
    }

    @Test("The sample has the longest values and others")
    func sample() async throws {
        let (fixture, id) = try await edited()
        let longest = try required(try await fixture.sql("SELECT max(id) FROM pushmta_engine.subscription"))
        // Compressed in the table, it is shorter than others.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET parameters = jsonb_build_object('name',
                repeat('x', CASE WHEN id = \(longest) THEN 10000 ELSE 300 END))
            """
        )
        try await fixture.store.analyzeDelivery(id)
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        while try await !fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3).done {}
        let application = try await fixture.store.application(named: "shop-ios").id
        let fields = MessageFields(names: ["name"])
        let sample = try await fixture.store.heldSample(of: id, application: application, limit: 100, fields)
        let place = try required(sample.areLongest.firstIndex(of: true))
        #expect(sample.messages.subscriptionIDs[place] == longest)
        #expect(sample.messages.fields[0].string(place).count == 10_000)
        #expect(Set(sample.messages.subscriptionIDs[..<place]).count > 20)
        let ids = sample.messages.subscriptionIDs
        #expect(Set(ids).count == ids.count, "a message is in it twice")
        _ = try await fixture.store.endAnalysis(of: job, AnalysisFindings())
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery_longest") == 0)
    }

    @Test("A release that was paused goes on")
    func pausedRelease() async throws {
        let (fixture, id) = try await edited(2_500)
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        try await fixture.store.startDelivery(id)
        try await fixture.store.pauseDelivery(id)
        try await fixture.store.resumeDelivery(id)
        #expect(try await state(fixture, id) == .preparing)
        try await prepare(fixture)
        #expect(try await fixture.parts(id, "held") == 0)
        #expect(try await state(fixture, id) == .inProgress)
    }

    @Test("A host that had begun what was dropped lets go of it")
    func droppedMeanwhile() async throws {
        let (fixture, id) = try await edited()
        try await start(fixture, id, after: "30 minutes")
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        _ = try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 1)
        try await fixture.sql(
            "DO $$ BEGIN PERFORM pushmta.update_delivery(\(id), content => '{\"ios\": {\"title\": \"b\"}}'); END $$"
        )
        let chunk = try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 1)
        #expect(chunk.done && chunk.messages == 0)
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).target == 250)
        #expect(try await fixture.store.endAnalysis(of: job, AnalysisFindings()) == .pending)
    }

    @Test("One that is due while it is prepared early goes on as one that has started")
    func dueMeanwhile() async throws {
        let (fixture, id) = try await edited()
        try await start(fixture, id, after: "30 minutes")
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        _ = try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 1)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = now() WHERE id = \(id)")
        #expect(try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 1).busy)
        let started = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        #expect(started.resumed)
        _ = try await fixture.store.prepareChunk(started, partSize: 20, partsPerChunk: 1)
        #expect(try await fixture.parts(id, "ready") > 0, "what was held is released before the rest is prepared")
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).target == 250)
    }

    @Test("A seed address gets one message, however often the analysis is taken over")
    func seeds() async throws {
        let (fixture, id) = try await edited(3)
        _ = try await fixture.store.addSeed(
            NewSeed(name: "colleague", application: "shop-ios", address: .pushToken(String(repeating: "a1", count: 32)))
        )
        try await fixture.sql("DO $$ BEGIN PERFORM pushmta.set_seeds(\(id)); END $$")
        try await fixture.store.analyzeDelivery(id)
        for _ in 0..<2 {
            let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
            while try await !fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3).done {}
        }
        try await prepare(fixture)
        try await fixture.store.startDelivery(id)
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).target == 4)
    }

    @Test("A seed address that is added or changed after the analysis ends it; one of another delivery does not")
    func changedSeeds() async throws {
        let (fixture, id) = try await edited(3)
        func add(_ name: String, _ digits: String) async throws {
            let token = String(repeating: digits, count: 32)
            _ = try await fixture.store.addSeed(
                NewSeed(name: name, application: "shop-ios", address: .pushToken(token))
            )
        }
        try await add("colleague", "a1")
        try await fixture.sql("DO $$ BEGIN PERFORM pushmta.set_seeds(\(id), ARRAY['colleague']); END $$")
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        try await add("stranger", "b2")
        let unchanged = "SELECT (pushmta_engine.analysis_fault(\(id), now()) IS NULL)::integer"
        #expect(try await fixture.sql(unchanged) == 1)
        try await fixture.sql(
            "UPDATE pushmta_engine.seed SET variables = '{\"firstName\": \"Ada\"}' WHERE name = 'colleague'"
        )
        #expect(try await fixture.sql(unchanged) == 0)
        try await fixture.store.startDelivery(id)
        #expect(try await state(fixture, id) == .pending)
        try await prepare(fixture)
        #expect(try await fixture.store.deliveryProgress(id).target == 4)
    }

    @Test("A paused delivery that has not started keeps no messages")
    func pausedBefore() async throws {
        let (fixture, id) = try await edited()
        try await start(fixture, id, after: "30 minutes")
        try await prepare(fixture)
        try await fixture.store.pauseDelivery(id)
        #expect(try await fixture.parts(id, "held") == 0)
        try await fixture.store.resumeDelivery(id)
        try await prepare(fixture)
        #expect(try await fixture.parts(id, "held") > 0)
    }

    @Test("The limit that binds is the one that takes longest")
    func pace() async throws {
        let (fixture, id) = try await edited()
        try await fixture.sql(
            "DO $$ BEGIN PERFORM pushmta.set_delivery_rate(\(id), 10); PERFORM pushmta.set_rate('application', 'shop-ios', 5); END $$"
        )
        try await fixture.store.analyzeDelivery(id)
        try await prepare(fixture)
        let analysis = try await fixture.store.analysis(ofDelivery: id)
        #expect(analysis.seconds == 50 && analysis.limitedBy == "application shop-ios: 5 messages a second")
    }

    @Test("A person who is forgotten leaves the samples")
    func forgottenPerson() async throws {
        let (fixture, id) = try await edited(3)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'ada' WHERE id = 1")
        try await fixture.store.analyzeDelivery(id)
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: "a").first)
        while try await !fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 3).done {}
        var findings = AnalysisFindings()
        findings.samples = [
            AnalysisFindings.Sample(
                application: "shop-ios",
                subscriptionID: 1,
                locale: "",
                bytes: 10,
                limit: 4_096,
                payload: "Dear Ada"
            )
        ]
        _ = try await fixture.store.endAnalysis(of: job, findings)
        #expect(try await fixture.store.analysis(ofDelivery: id).samples.contains("Ada"))
        try await fixture.sql("SELECT 1 FROM pushmta.forget_user('shop', 'ada')")
        #expect(try await fixture.store.analysis(ofDelivery: id).samples == "[]")
    }

    @Test("A continuous delivery and a started one are refused")
    func refused() async throws {
        let (fixture, id) = try await edited()
        try await fixture.store.startDelivery(id)
        await #expect(throws: StoreError.self) { try await fixture.store.analyzeDelivery(id) }
    }
}
