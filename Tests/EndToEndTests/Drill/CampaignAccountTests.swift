import LaboratoryStore
import PushCore
import Testing

@testable import Laboratory

@Suite struct CampaignAccountTests {
    /// A campaign that began at 100 s, to persons p1, p2 and so on with one subscription each.
    private struct Case {
        var delivery: CampaignAccount.Delivery

        init(_ kind: CampaignKind, id: Int64 = 7, people: Int = 0) {
            delivery = CampaignAccount.Delivery(id: id, kind: kind)
            delivery.facts.startedAt = 100
            for number in 0..<people { add(Int32(number + 1), at: 101) }
        }

        /// Adds a message that arrives at a moment; nil: never.
        mutating func add(
            _ sequence: Int32,
            person: String? = nil,
            at time: Double?,
            _ change: (inout CampaignFacts.Message) -> Void = { _ in }
        ) {
            let subscription = Int64(delivery.audience.count + 1)
            var message = CampaignFacts.Message(
                sequence: sequence,
                subscription: subscription,
                person: person ?? "p\(subscription)"
            )
            change(&message)
            delivery.audience.insert(subscription)
            delivery.facts.messages.append(message)
            guard let time else { return }
            var tally = GatewayTally()
            tally.add(GatewayRecordLine(id: "", status: 200, time: time))
            delivery.tallies[sequence] = tally
        }

        /// Adds a subscription that was left out.
        mutating func exclude(person: String? = nil, _ reason: String) {
            let subscription = Int64(delivery.audience.count + 1)
            delivery.audience.insert(subscription)
            delivery.facts.exclusions.append(
                CampaignFacts.Exclusion(
                    subscription: subscription,
                    person: person ?? "p\(subscription)",
                    reason: reason
                )
            )
        }

        /// Adds a wave; the first one has passed its guard.
        mutating func addWave(_ number: Int16, openedAt: Double?, passedAt: Double? = nil, pause: Double = 0) {
            delivery.facts.waves.append(
                CampaignFacts.Wave(number: number, openedAt: openedAt, passedAt: passedAt, pause: pause)
            )
        }

        var faults: [String] { CampaignAccount([delivery]).faults }
    }

    // MARK: The audience

    @Test func everySubscriptionHasAMessageOrAReason() {
        var whole = Case(.experiment)
        whole.add(1 << 27 + 1, at: 101) { ($0.cell, $0.variant) = (1, 1) }
        whole.exclude("hold_out")
        #expect(whole.faults.isEmpty, "\(whole.faults)")
        var missing = whole
        missing.delivery.audience.insert(99)
        #expect(missing.faults == ["delivery 7: 1 subscriptions have neither message nor reason"])
        var stranger = whole
        stranger.delivery.audience.remove(1)
        #expect(stranger.faults == ["delivery 7: 1 subscriptions do not belong to its audience"])
        var other = whole
        other.exclude("opted_out")
        #expect(other.faults == ["delivery 7: subscriptions were left out with the reason opted_out"])
    }

    @Test func nobodyIsPreparedTwice() {
        var twice = Case(.localTime(skipsPast: false))
        twice.add(1, at: 101) { $0.localAt = 90 }
        twice.delivery.facts.messages.append(twice.delivery.facts.messages[0])
        #expect(twice.faults == ["delivery 7: 1 subscriptions were prepared twice"])
    }

    // MARK: Waves

    private func waves(second: Double, passedAt: Double? = 103, pause: Double = 2) -> Case {
        var waves = Case(.waves)
        waves.add(1, at: 101) { $0.wave = 1 }
        waves.add(2, at: 102.5) { $0.wave = 1 }
        waves.add(3, at: second) { $0.wave = 2 }
        waves.addWave(1, openedAt: 100.5, passedAt: passedAt)
        waves.addWave(2, openedAt: passedAt, pause: pause)
        return waves
    }

    @Test func aWaveBeginsAfterTheOneBeforeItsPauseAndItsGuard() {
        #expect(waves(second: 103.1).faults.isEmpty)
        #expect(waves(second: 102.9).faults.count == 1, "before the guard")
        #expect(waves(second: 102.4).faults.count == 3, "also before the last message, and within the pause")
        #expect(waves(second: 103.1, pause: 3).faults.count == 1, "within the pause")
        #expect(waves(second: 103.1, passedAt: nil).faults.count == 1, "the guard held it")
    }

    @Test func aMessageThatNeverArrivedHoldsNoWaveUp() {
        var lost = waves(second: 103.1)
        lost.add(4, at: nil) { $0.wave = 1 }
        #expect(lost.faults.isEmpty)
        lost.add(5, at: 104)
        #expect(lost.faults == ["delivery 7: 1 messages have no wave"])
    }

    // MARK: Local times

    @Test func nobodyGetsAMessageBeforeTheLocalTime() {
        var past = Case(.localTime(skipsPast: false))
        past.add(1, at: 105.1) { $0.localAt = 105 }
        past.add(2, at: 100.2) { $0.localAt = 50 }
        #expect(past.faults.isEmpty)
        past.add(3, at: 104.9) { $0.localAt = 105 }
        #expect(past.faults.count == 1)
    }

    @Test func onlyWhoseTimeHasPassedIsSkipped() {
        var skipping = Case(.localTime(skipsPast: true))
        skipping.add(1, at: 105.1) { $0.localAt = 105 }
        skipping.add(2, at: nil) { $0.localAt = 50 }
        skipping.delivery.ignored = [2]
        #expect(skipping.faults.isEmpty)
        skipping.delivery.ignored = [1, 2]
        #expect(skipping.faults.count == 1, "its time had not passed")
        skipping.delivery.ignored = []
        #expect(skipping.faults.count == 1, "its time had passed")
        skipping.delivery.ignored = [2, 3]
        skipping.add(3, at: 101) { $0.localAt = 50 }
        #expect(skipping.faults.count == 1, "it was sent all the same")
    }

    // MARK: Experiments

    private func number(_ cell: Int16, _ place: Int32) -> Int32 { Int32(cell) << 27 + place }

    @Test func allDevicesOfAPersonGetOneVariant() {
        var experiment = Case(.experiment)
        experiment.delivery.facts.decidesAt = 110
        experiment.add(number(1, 1), person: "ada", at: 101) { ($0.cell, $0.variant) = (1, 1) }
        experiment.add(number(1, 2), person: "ada", at: 102) { ($0.cell, $0.variant) = (1, 1) }
        experiment.add(number(9, 1), person: "eve", at: 110.5) { ($0.cell, $0.variant) = (9, 2) }
        experiment.exclude(person: "tom", "hold_out")
        #expect(experiment.faults.isEmpty, "\(experiment.faults)")
        var split = experiment
        split.add(number(2, 1), person: "ada", at: 101) { ($0.cell, $0.variant) = (2, 2) }
        #expect(split.faults.count == 2, "two cells and two variants: \(split.faults)")
        var half = experiment
        half.exclude(person: "ada", "hold_out")
        #expect(half.faults.count == 1)
        var early = experiment
        early.add(number(9, 2), at: 109) { ($0.cell, $0.variant) = (9, 2) }
        #expect(early.faults == ["delivery 7: 1 messages of the rest arrived before the decision"])
        var undecided = experiment
        undecided.add(number(9, 2), at: 111) { ($0.cell, $0.variant) = (9, 1) }
        #expect(undecided.faults == ["delivery 7: 1 further variants went to the rest"])
        var misplaced = experiment
        misplaced.add(number(1, 3), at: 101) { ($0.cell, $0.variant) = (2, 2) }
        #expect(misplaced.faults.count == 1)
    }

    // MARK: Frequency caps

    @Test func nobodyGetsMoreDeliveriesThanACapAllows() {
        let kind = CampaignKind.capped(category: "news")
        let (first, second) = (Case(kind, id: 1, people: 2), Case(kind, id: 2, people: 2))
        var third = Case(kind, id: 3)
        third.exclude("frequency_cap")
        third.exclude("frequency_cap")
        func faults(_ cases: [Case]) -> [String] { CampaignAccount(cases.map(\.delivery)).faults }
        #expect(faults([first, second, third]).isEmpty)
        #expect(faults([first, third]) == ["delivery 3: 2 subscriptions were left out below the cap"])
        #expect(faults([first, second, Case(kind, id: 3, people: 2)]).count == 2)
        #expect(faults([first, second, Case(kind, id: 3, people: 2), Case(kind, id: 4, people: 2)]).count == 2)
        let other = Case(.capped(category: "other"), id: 3, people: 2)
        #expect(faults([first, second, other]).isEmpty, "a cap of its own")
    }

    @Test func severalDevicesOfAPersonCountOnce() {
        let kind = CampaignKind.capped(category: "news")
        var cases = [Case(kind, id: 1), Case(kind, id: 2)]
        for index in cases.indices {
            cases[index].add(1, person: "ada", at: 101)
            cases[index].add(2, person: "ada", at: 101)
        }
        #expect(CampaignAccount(cases.map(\.delivery)).faults.isEmpty)
        // What was not accepted was not got.
        var third = Case(kind, id: 3)
        third.add(1, person: "ada", at: nil)
        cases.append(third)
        #expect(CampaignAccount(cases.map(\.delivery)).faults.isEmpty)
    }

    // MARK: Kinds

    @Test func aWholeCampaignKeepsToEverything() {
        var whole = Case(.whole(category: "news"))
        whole.add(number(1, 1), at: 101) { ($0.cell, $0.variant, $0.wave, $0.localAt) = (1, 1, 1, 90) }
        whole.add(number(2, 1), at: 104) { ($0.cell, $0.variant, $0.wave, $0.localAt) = (2, 2, 2, 90) }
        whole.exclude("hold_out")
        whole.addWave(1, openedAt: 100, passedAt: 103)
        whole.addWave(2, openedAt: 103, pause: 2)
        #expect(whole.faults.isEmpty, "\(whole.faults)")
        whole.exclude("frequency_cap")
        #expect(whole.faults == ["delivery 7: 1 subscriptions were left out below the cap"])
        var earlier: [CampaignAccount.Delivery] = []
        for id: Int64 in 1...2 {
            var one = Case(.capped(category: "news"), id: id)
            one.add(1, person: "p4", at: 90)
            earlier.append(one.delivery)
        }
        #expect(CampaignAccount(earlier + [whole.delivery]).faults.isEmpty)
        whole.add(number(1, 2), at: 104) { ($0.cell, $0.variant, $0.wave, $0.localAt) = (1, 1, 2, 105) }
        #expect(CampaignAccount(earlier + [whole.delivery]).faults.count == 1, "before its local time")
    }

    @Test(arguments: [
        CampaignKind.waves, .localTime(skipsPast: true), .localTime(skipsPast: false), .capped(category: "a"),
        .experiment,
    ])
    func aKindSaysWhatMakesItACampaign(_ kind: CampaignKind) {
        let plan = kind.plan(localTime: "2026-12-01T09:00:00")
        #expect([plan != nil, kind.experiment != nil, kind.category != nil].filter { $0 }.count == 1)
        #expect(plan?.localTime == nil || plan?.onPast != nil)
        #expect(kind.endings.isEmpty || plan?.onPast == .skip)
    }

    @Test func sendingHoursMayCrossMidnight() {
        func spans(_ time: String) -> [String] {
            SendingHours.lines(around: "2026-12-01T" + time).map { "\($0.opens)-\($0.closes)" }
        }
        #expect(spans("10:00:59") == ["09:00-12:00"])
        #expect(spans("00:30:00") == ["23:30-24:00", "00:00-02:30"])
        #expect(spans("23:00:00") == ["00:00-01:00", "22:00-24:00"])
        #expect(spans("22:00:00") == ["21:00-24:00"])
        #expect(SendingHours.lines(around: "now").isEmpty)
    }
}
