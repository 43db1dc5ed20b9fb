import Gateways
import PushCore
import Store

/// Failures that are the gateway's and not a message's: who waits, who probes, and how fast sending begins again.
extension DispatchState {
    /// What the database says of the gateway's trouble.
    enum TroubleSeen: Sendable, Equatable {
        case none
        case trouble
        /// Sending has begun again so long ago, by so many children.
        case opening(since: Duration, sharers: Int)
    }

    /// So long the answer to a probe is waited for before another message may find out: answers take a second, and nobody is to wait for a
    /// request's timeout when a gateway that was silent is back.
    static let probeTimeout = Duration.seconds(8)

    /// Whether a probe is on its way whose answer is still waited for; one that has not left waits for a connection.
    func awaitsProbe(at moment: Duration) -> Bool {
        guard window.inGateway > 0, !window.isMarking else { return window.isMarking }
        return moment - gateway.probedAt < Self.probeTimeout
            || flights.all.contains { $0.departed.isEmpty && $0.open > $0.waiting }
    }

    /// What the prober asks of the state.
    ///
    /// - Parameter moment: now, on the owner's monotonic clock.
    func probe(at moment: Duration) -> ProbeView {
        let end = gateway.probedAt + Self.probeTimeout
        return ProbeView(
            isProber: admission.isProbingGateway,
            mayProbe: admission.mayProbe,
            isAwaited: awaitsProbe(at: moment),
            awaitedUntil: end > moment ? end : nil,
            hasNothing: hasNothingToProbe,
            isReleasing: !endings.releasing.isEmpty,
            deliveries: heldDeliveries,
            pauseAskedFor: gateway.detector.notBefore.map { $0 - moment },
            reason: gateway.detector.reason
        )
    }

    /// Whether a part is needed to probe with.
    var hasNothingToProbe: Bool { waiting.isEmpty && flights.all.allSatisfy { $0.waiting == 0 } }

    /// A message leaves as a probe: the next one waits for the next permission.
    mutating func useProbe() {
        guard admission.isProbingGateway else { return }
        admission.useProbe()
        gateway.probed(at: moment)
    }

    /// What this refusal means was said of the gateway: the message keeps its attempts.
    ///
    /// It waits in a part of its own, so that it takes no room from others, and others go first as probes. What others were answered
    /// meanwhile tells whose fault it is: of a message that was refused while others passed nothing is learned about the gateway.
    mutating func refusedByGateway(
        _ outcome: Outcome,
        _ flight: inout Flight,
        _ part: inout HeldPart,
        _ now: Int64,
        _ answer: inout JournalAnswer
    ) {
        gateway.refused(at: moment)
        let isTheirs = outcome.fault.isBounded && part.claimed.isRefusedAlone
        if !isTheirs {
            gateway.failed(
                Self.troubleWords(outcome),
                retryAfterMilliseconds: outcome.isPauseAdvice ? nil : outcome.retryAfterMilliseconds,
                isProjectWide: outcome.applicationWide,
                at: moment
            )
        }
        if outcome.applicationWide, outcome.status == 429 { pace.refused(Self.words(outcome)) }
        // A replay of the journal has to send it again, and at no cost.
        answer.outcomeClass = .unprocessed
        if outcome.fault == .unknown { notes.unknownReason(ofDelivery: part.claimed.deliveryID) }
        // What comes after it in the same read says whether it is trouble.
        guard !outcome.applicationWide else { return notes.hold(quotaRefusal: outcome) }
        handleRefusal(outcome, &flight, &part, now)
    }

    /// Sees to the messages of a read that found the quota of the whole project used up.
    mutating func handleQuotaRefusals(_ flight: inout Flight, _ part: inout HeldPart, _ now: Int64) {
        for outcome in notes.takeQuotaRefusals() { handleRefusal(outcome, &flight, &part, now) }
    }

    /// In trouble with the rest of the part, or in a part of its own where others pass.
    private mutating func handleRefusal(
        _ outcome: Outcome,
        _ flight: inout Flight,
        _ part: inout HeldPart,
        _ now: Int64
    ) {
        let row = flight.rows[Int(outcome.index)]
        guard admission.trouble == .none, !admission.givesBack, !part.isFenced,
            !gateway.detector.isCertain
        else { return refusedInTrouble(outcome, &flight, &part, now) }
        flight.decide(outcome.index)
        let refusals = Int(part.claimed.refusals)
        if outcome.fault.isBounded,
            refusals >= RetryPolicy.maximumUnexplainedRefusals || -refusals >= RetryPolicy.maximumLoneRefusals - 1
        {
            return giveUp(&part, row, outcome)
        }
        var pause = RetryPolicy.gatewayPause(
            refusals: abs(refusals),
            isLone: outcome.fault.isBounded && refusals < 0,
            leastMilliseconds: outcome.retryAfterMilliseconds,
            using: &random
        )
        if let end = part.validUntilMilliseconds, now + pause > end {
            // What the gateway has asked for is obeyed; what is only advised gives way to the validity.
            if outcome.isPauseAdvice || outcome.retryAfterMilliseconds == nil { pause = max(0, end - now) / 2 }
            if now >= end || now + pause > end { return expire(&part, row, outcome) }
        }
        part.times.refused(outcome, now: now)
        postpone(&part, row, now + pause, now, as: .refused(since: moment - Self.passWindow, isLone: true))
    }

    /// What was taken so long before a message was refused, while nothing else says trouble, says that the gateway was well.
    private static let passWindow = Duration.seconds(10)

    /// A message of many that were never refused before goes to a part of its own, due at once, for others to go first as probes; a lone
    /// one, or one of those that were all refused before, stays in its part and goes back with it. So does one that found the quota of the
    /// whole project used up: no message is to blame, and none need go first.
    private mutating func refusedInTrouble(
        _ outcome: Outcome,
        _ flight: inout Flight,
        _ part: inout HeldPart,
        _ now: Int64
    ) {
        part.times.refused(outcome, now: now)
        guard !admission.isShuttingDown, !part.isFenced, !outcome.applicationWide,
            part.claimed.refusals == 0, part.open > 1 || !part.retries.isEmpty
        else { return flight.unsent.append(outcome.index) }
        flight.decide(outcome.index)
        let asked = outcome.isPauseAdvice ? 0 : Int64(outcome.retryAfterMilliseconds ?? 0)
        // Only what passes from now on says that others do: what passed a moment ago may have been the last.
        let kind = PreparedPart.Soft.Kind.refused(since: moment + HeldPart.later, isLone: false)
        postpone(&part, flight.rows[Int(outcome.index)], now + max(0, asked), now, as: kind)
    }

    /// A credential is wrong that is stored with the gateway: the message waits apart from others until it is right, and so do those of its
    /// part that have waited for the same.
    mutating func waitForCredential(
        _ outcome: Outcome,
        _ flight: inout Flight,
        _ part: inout HeldPart,
        _ now: Int64,
        _ answer: inout JournalAnswer
    ) {
        gatewayAnswered(outcome, part)
        // A replay of the journal has to send it again, and at no cost.
        answer.outcomeClass = .unprocessed
        guard !part.isFenced else { return flight.unsent.append(outcome.index) }
        flight.decide(outcome.index)
        let reason = Self.words(outcome)
        notes.wrongCredential(reason)
        let kind = PreparedPart.Soft.Kind.apart(reason: reason)
        postpone(&part, flight.rows[Int(outcome.index)], now, now, as: kind)
        if part.triesCredential {
            for row in part.slices.lazy.flatMap(\.rows) {
                part.open -= 1
                part.retries.append(
                    .init(row: row, notBeforeMilliseconds: now, longestDelayMilliseconds: 0, kind: kind)
                )
                counters.counts.retried += 1
            }
            part.slices = []
            waiting.removeAll { $0 == part.claim }
        }
    }

    /// A message was written, and nothing came that is an answer of the gateway: the gateway's failure, or that of what stands in its
    /// place.
    mutating func unanswered(_ outcome: Outcome) {
        if outcome.reason == AnswerTable.connectionLost {
            return gateway.lostMessage(Self.troubleWords(outcome), at: moment)
        }
        gateway.failed(Self.troubleWords(outcome), at: moment)
    }

    /// Gives back what the last probe was taken from, so that the next one is of another delivery, or another message: a refusal that is one
    /// message's own must not stand for the gateway's. What holds a message without an answer stays: its resend counts, and has its time.
    mutating func probeFailed(_ actions: inout [Action]) {
        guard admission.isProbingGateway else { return }
        for claim in parts.keys.sorted() {
            guard let part = parts[claim], part.inGateway == 0, !part.isFenced, !part.isClosing,
                part.lastBatch <= outbox.stored, !part.retries.contains(where: \.countsAttempt),
                part.ambiguous.reported.isEmpty
            else { continue }
            forget(claim)
            giveBack(claim, part.recovery, &actions)
        }
    }

    /// What is answered later than this after a limit of a device was sent after it: gateways answer within 300 ms, and answers that were
    /// under way when a limit of all began say nothing about it.
    static let answerTime = Duration.seconds(1)

    /// Holds a limit of one device back until it is known to be no limit of all.
    mutating func holdSoft(_ outcome: Outcome, _ flight: inout Flight, _ part: HeldPart) {
        let row = flight.rows[Int(outcome.index)]
        let subscription = part.subscriptionIDs[Int(row)]
        if !notes.soft.contains(where: { $0.subscription == subscription }) {
            gateway.suspected(Self.words(outcome))
        }
        flight.decide(outcome.index)
        window.leave(1)
        notes.hold(
            HeldSoft(
                subscription: subscription,
                message: .init(claim: part.claim, row: row, outcome: outcome),
                since: moment
            )
        )
    }

    /// Others pass, or nobody else is there: these limits are the devices' own.
    ///
    /// - Parameter answered: when the last of the others passed; nil if there are none.
    mutating func decideSoft(answered: Duration? = nil, _ now: Int64, _ actions: inout [Action]) {
        let isDecided = { (held: HeldSoft) in answered.map { $0 - held.since >= Self.answerTime } ?? true }
        for message in notes.takeSoft(isDecided).map(\.message) {
            guard var part = parts[message.claim] else { continue }
            var answer = JournalAnswer(
                sequence: part.sequences[Int(message.row)],
                outcomeClass: message.outcome.outcomeClass,
                status: message.outcome.status,
                attempt: part.claimed.attempt,
                reason: message.outcome.reason,
                tokenEffect: message.outcome.tokenEffect,
                failure: message.outcome.failure
            )
            decideHeld(&part, message.row, message.outcome, now, &answer)
            parts[message.claim] = part
            Self.journal(answer, of: part, now, &actions)
            closeIfDone(message.claim, now)
        }
    }

    /// The gateway has said something about a message: the way to it works.
    mutating func gatewayAnswered(_ outcome: Outcome, _ part: HeldPart) {
        gateway.answered(at: moment)
        guard outcome.outcomeClass == .accepted else { return }
        gateway.passed(at: moment)
        notes.forgetReasons(ofDelivery: part.claimed.deliveryID)
    }

    /// What follows from the answers of one read.
    mutating func followTrouble(_ now: Int64, _ actions: inout [Action]) {
        if let reason = notes.takeUntoldCredential() { actions.append(.credentialRefused(reason: reason)) }
        switch admission.trouble {
        case .probing where gateway.detector.isWell && gateway.detector.hasAnswers:
            admission.comeBack()
            gateway.recovered(at: moment)
            actions.append(.troubleOver)
        case .probing, .left: break
        case .none:
            if let lastAnswer = gateway.lastAnswer, !notes.soft.isEmpty, !gateway.detector.isTrouble(at: moment) {
                decideSoft(answered: lastAnswer, now, &actions)
            }
        }
        holdUnexplained(&actions)
    }

    /// A delivery that gets an answer which nobody knows, message after message, while others pass, is alone to blame.
    private mutating func holdUnexplained(_ actions: inout [Action]) {
        guard admission.trouble == .none, !admission.givesBack, !notes.unknownReasons.isEmpty,
            !gateway.detector.isTrouble(at: moment)
        else {
            return
        }
        for (delivery, count) in notes.unknownReasons.sorted(by: { $0.key < $1.key })
        where count > MassFailureGuard.fewest {
            notes.forgetReasons(ofDelivery: delivery)
            let reason =
                "The gateway gives \(count) of its messages an answer that is in no document (\(gateway.detector.reason)), while others pass. "
                + "No message has failed. Correct the content, or stop the delivery; resume it to try again."
            holdDelivery(delivery, reason: reason, &actions)
        }
    }

    /// Looks whether what has failed is trouble by now.
    mutating func watchTrouble(_ now: Int64, _ actions: inout [Action]) {
        gateway.look(isWaiting: window.inGateway > 0, at: moment)
        guard admission.trouble == .none, !admission.givesBack else { return }
        gateway.noteSilence(at: moment)
        guard !parts.isEmpty || !flights.isEmpty else { return gateway.rest() }
        let othersFollow = !waiting.isEmpty || window.isMarking
        if gateway.isTrouble(othersFollow: othersFollow, at: moment) {
            leave(&actions)
            actions.append(
                .enterTrouble(
                    reason: gateway.detector.reason,
                    notBefore: gateway.detector.notBefore.map { $0 - moment }
                )
            )
        } else if !notes.soft.isEmpty, flights.isEmpty, waiting.isEmpty {
            decideSoft(now, &actions)
        }
    }

    mutating func troubleSeen(_ seen: TroubleSeen, _ actions: inout [Action]) {
        if admission.trouble == .left, seen != .trouble {
            admission.comeBack()
            gateway.comeBack(at: moment)
            actions.append(.claimMore)
        }
        switch seen {
        case .none: gateway.opening(nil, at: moment)
        case .trouble: if admission.trouble == .none { leave(&actions) }
        case .opening(let since, let sharers):
            guard admission.trouble == .none else { return }
            gateway.opening((since, sharers), at: moment)
        }
    }

    /// Nothing more leaves, nothing is decided, all parts go back as they are. The child stays.
    mutating func leave(_ actions: inout [Action]) {
        admission.leave()
        actions.append(.cancelQueued)
    }

    /// What a failure says of the gateway, for people.
    private static func troubleWords(_ outcome: Outcome) -> String {
        let words = words(outcome)
        switch (outcome.outcomeClass, outcome.fault) {
        case (.ambiguous, _) where outcome.status != 0:
            return "\(words): something other than the gateway answers, or the gateway not in its form"
        case (.ambiguous, _) where outcome.reason == AnswerTable.timeout: return "no answer in time"
        case (.ambiguous, _) where outcome.reason == AnswerTable.connectionLost:
            return "connections end before messages are answered"
        case (.ambiguous, _): return "messages are not answered, their streams are reset (\(words))"
        case (_, .foreign): return "\(words): not the gateway's answer; a proxy or a page in its place gives it"
        default: return words
        }
    }

    /// A status and reason in one, for people.
    static func words(_ outcome: Outcome) -> String {
        [outcome.status == 0 ? "" : String(outcome.status), outcome.reason].filter { !$0.isEmpty }.joined(
            separator: " "
        )
    }

    /// A limit of one device, not decided yet.
    struct HeldSoft: Sendable {
        let subscription: Int64
        let message: MassFailureGuard.Held
        /// When its answer came, on the owner's monotonic clock.
        let since: Duration
    }
}
