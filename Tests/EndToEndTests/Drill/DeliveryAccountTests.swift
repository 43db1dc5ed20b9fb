import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct DeliveryAccountTests {
    private func counts(_ account: DeliveryAccount) -> [Int] {
        [account.count(.lost), account.count(.duplicate), account.count(.unexplained)]
    }

    @Test func whatIsSentOnceIsInOrder() throws {
        let account = try ReconciliationCase(outcomes: [(1, .sent), (2, .sent)], gateway: [1: (1, 0), 2: (1, 3)])
            .account()
        #expect(account.entries.isEmpty)
        #expect(account.faults.isEmpty)
    }

    @Test(arguments: [MessageStatus.sent, .pending]) func whatNeverArrivedIsLost(status: MessageStatus) throws {
        let account = try ReconciliationCase(outcomes: [(1, status)]).account()
        #expect(counts(account) == [1, 0, 0])
    }

    @Test func aMessageWithoutOutcomeIsLostThoughItArrived() throws {
        let account = try ReconciliationCase(outcomes: [(1, .pending)], gateway: [1: (1, 0)]).account()
        #expect(counts(account) == [1, 0, 0])
    }

    @Test func aDuplicateIsExplainedOnlyByAmbiguity() throws {
        var duplicate = ReconciliationCase(resent: 1, outcomes: [(1, .sent)], ambiguous: [1], gateway: [1: (2, 0)])
        #expect(counts(try duplicate.account()) == [0, 1, 0])
        #expect(try duplicate.account().faults.isEmpty)
        duplicate.ambiguous = []
        #expect(counts(try duplicate.account()) == [0, 1, 1])
    }

    @Test func aDuplicateHasToBeCountedAsResent() throws {
        let account = try ReconciliationCase(outcomes: [(1, .sent)], ambiguous: [1], gateway: [1: (2, 0)]).account()
        #expect(account.faults.count == 1)
    }

    @Test func reportAllowsNoDuplicate() throws {
        let account = try ReconciliationCase(
            policy: .report,
            outcomes: [(1, .unknown), (2, .unknown)],
            ambiguous: [1, 2],
            gateway: [1: (2, 0), 2: (1, 0)]
        ).account()
        #expect(counts(account) == [0, 1, 1])
        let resent = try ReconciliationCase(policy: .report, resent: 1, outcomes: [(1, .sent)], gateway: [1: (1, 0)])
            .account()
        #expect(resent.faults.count == 1)
    }

    @Test func unknownNeedsAmbiguityAndThePolicy() throws {
        var unknown = ReconciliationCase(policy: .report, outcomes: [(1, .unknown)], gateway: [1: (1, 0)])
        #expect(counts(try unknown.account()) == [0, 0, 1])
        unknown.ambiguous = [1]
        #expect(try unknown.account().entries.isEmpty)
        unknown.policy = .resend
        #expect(counts(try unknown.account()) == [0, 0, 1])
    }

    @Test(arguments: [MessageStatus.failed, .ignored, .canceled, .notApplicable])
    func whatEndedOtherwiseMayNotBeAcceptedAndHasToBeWanted(status: MessageStatus) throws {
        var ended = ReconciliationCase(allows: [status], outcomes: [(1, status)], gateway: [1: (1, 1)])
        #expect(counts(try ended.account()) == [0, 0, 1])
        ended.gateway = [1: (0, 1)]
        #expect(try ended.account().entries.isEmpty)
        ended.allows = []
        #expect(counts(try ended.account()) == [1, 0, 0])
        // Ambiguity is no reason to give up a message.
        ended.ambiguous = [1]
        #expect(counts(try ended.account()) == [1, 0, 0])
    }

    @Test func aFailureNeedsAnAnswer() throws {
        var failed = ReconciliationCase(allows: [.failed, .canceled], outcomes: [(1, .failed)])
        #expect(counts(try failed.account()) == [0, 0, 1])
        failed.ambiguous = [1]
        #expect(try failed.account().entries.isEmpty)
        failed = ReconciliationCase(allows: [.canceled], outcomes: [(1, .canceled)])
        #expect(try failed.account().entries.isEmpty)
    }

    @Test func theTargetIsTheAudience() throws {
        var skipped = ReconciliationCase(messages: 3, outcomes: [(1, .sent)], gateway: [1: (1, 0)])
        #expect(try skipped.account().faults == ["delivery 7 has target 1, its audience has 3"])
        skipped.state = .stopped
        #expect(try skipped.account().faults.isEmpty)
    }

    @Test func onlyACampaignMayLeaveSubscribersOut() throws {
        var left = ReconciliationCase(messages: 3, outcomes: [(1, .sent)], gateway: [1: (1, 0)])
        left.excluded = 2
        #expect(try left.account().faults.count == 1)
        left.campaign = .experiment
        #expect(try left.account().faults.isEmpty)
        left.excluded = 1
        #expect(try left.account().faults.count == 1)
    }

    @Test func everySequenceStandsInTheDatabaseOnce() throws {
        let twice = try ReconciliationCase(outcomes: [(1, .sent), (1, .sent)], gateway: [1: (1, 0)]).account()
        #expect(counts(twice) == [0, 0, 1])
        let stranger = try ReconciliationCase(outcomes: [(1, .sent)], gateway: [1: (1, 0), 2: (1, 0)]).account()
        #expect(counts(stranger) == [0, 0, 1])
        let short = try ReconciliationCase(target: 3, messages: 3, outcomes: [(1, .sent)], gateway: [1: (1, 0)])
            .account()
        #expect(short.faults.count == 1)
    }

    @Test func aMessageIsNamedByItsIDAtTheGateway() throws {
        let account = try ReconciliationCase(outcomes: [(5, .sent)]).account()
        let entry = try #require(account.entries.first)
        #expect(MessageUUID(entry.id) != nil)
        #expect(entry.text.hasPrefix("lost: message 5 of delivery 7 (\(entry.id)): "))
    }
}
