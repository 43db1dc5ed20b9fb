import Gateways
import PushCore
import Store

/// Failures of the gateway rather than of a message: which child waits, which one probes, and how fast sending resumes.
extension DispatchState {
    /// The gateway's trouble as the database has it.
    enum TroubleSeen: Sendable, Equatable {
        case none
        case trouble
        /// Sending resumed this long ago, shared by this many children.
        case opening(since: Duration, sharers: Int)
    }

    /// How long a probe waits for its answer before another message may probe. Answers take about a second, and a
    /// recovered gateway should not have to wait for the timeout of a request that met its silence.
    static let probeTimeout = Duration.seconds(8)

    /// Whether a probe still waits for its answer; one that has not left yet waits for a connection.
    func awaitsProbe(at moment: Duration) -> Bool {
        guard window.inGateway > 0, !window.isMarking else { return window.isMarking }
        return moment - gateway.probedAt < Self.probeTimeout
            || flights.all.contains { $0.departed.isEmpty && $0.open > $0.waiting }
    }

    /// The state as the prober sees it.
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

    /// Whether the prober has to claim a part to probe with.
    var hasNothingToProbe: Bool { waiting.isEmpty && flights.all.allSatisfy { $0.waiting == 0 } }

    /// A message leaves as a probe; the next one needs a new permission.
    mutating func useProbe() {
        guard admission.isProbingGateway else { return }
        admission.useProbe()
        gateway.probed(at: moment)
    }

    /// The refusal is about the gateway, so the message keeps its attempts.
    ///
    /// The message waits in a part of its own. There it takes no room from others, and others probe first. The answers
    /// to other messages in the meantime show whose fault it is: a message that was refused while others passed says
    /// nothing about the gateway.
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
        // A replay of the journal has to resend it without counting an attempt.
        answer.outcomeClass = .unprocessed
        if outcome.fault == .unknown { notes.unknownReason(ofDelivery: part.claimed.deliveryID) }
        // The rest of the same read shows whether this is trouble.
        guard !outcome.applicationWide else { return notes.hold(quotaRefusal: outcome) }
        handleRefusal(outcome, &flight, &part, now)
    }

    /// Handles the messages of one read that were refused because the quota of the whole project is used up.
    mutating func handleQuotaRefusals(_ flight: inout Flight, _ part: inout HeldPart, _ now: Int64) {
        for outcome in notes.takeQuotaRefusals() { handleRefusal(outcome, &flight, &part, now) }
    }

    /// Handles a refused message: in trouble it stays with its part, otherwise it goes to a part of its own that others
    /// pass.
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
            refusals >= RetryPolicy.maxUnexplainedRefusals || -refusals >= RetryPolicy.maxLoneRefusals - 1
        {
            return giveUp(&part, row, outcome)
        }
        var pause = RetryPolicy.gatewayPause(
            refusals: abs(refusals),
            isLone: outcome.fault.isBounded && refusals < 0,
            minMilliseconds: outcome.retryAfterMilliseconds,
            using: &random
        )
        if let end = part.validUntilMilliseconds, now + pause > end {
            // A pause that the gateway has asked for is kept; an advised pause yields to the validity.
            if outcome.isPauseAdvice || outcome.retryAfterMilliseconds == nil { pause = max(0, end - now) / 2 }
            if now >= end || now + pause > end { return expire(&part, row, outcome) }
        }
        part.times.refused(outcome, now: now)
        postpone(&part, row, now + pause, now, as: .refused(since: moment - Self.passWindow, isLone: true))
    }

    /// A message that was accepted within this time before a refusal shows that the gateway was well, unless something
    /// else indicates trouble.
    private static let passWindow = Duration.seconds(10)

    /// A message among others, none of them refused before, goes to a part of its own, due at once, so that others
    /// probe first. A lone message, or one of a part that was refused before, stays in its part and goes back with it.
    /// The same holds for a message that met the exhausted quota of the whole project: no message is to blame, so none
    /// has to go first.
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
        // Only messages accepted from now on show that others pass; one accepted a moment ago may have been the last.
        let kind = PreparedPart.Soft.Kind.refused(since: moment + HeldPart.later, isLone: false)
        postpone(&part, flight.rows[Int(outcome.index)], now + max(0, asked), now, as: kind)
    }

    /// A credential stored with the gateway is wrong. The message waits apart from others until the credential is
    /// corrected, and so do the messages of its part that waited for the same credential.
    mutating func waitForCredential(
        _ outcome: Outcome,
        _ flight: inout Flight,
        _ part: inout HeldPart,
        _ now: Int64,
        _ answer: inout JournalAnswer
    ) {
        gatewayAnswered(outcome, part)
        // A replay of the journal has to resend it without counting an attempt.
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
                    .init(row: row, notBeforeMilliseconds: now, maxDelayMilliseconds: 0, kind: kind)
                )
                counters.counts.retried += 1
            }
            part.slices = []
            waiting.removeAll { $0 == part.claim }
        }
    }

    /// A message was written and no answer of the gateway came: the fault of the gateway, or of whatever answers in its
    /// place.
    mutating func unanswered(_ outcome: Outcome) {
        guard outcome.fault != .none else { return }
        if outcome.reason == AnswerTable.connectionLost {
            return gateway.lostMessage(Self.troubleWords(outcome), at: moment)
        }
        gateway.failed(Self.troubleWords(outcome), at: moment)
    }

    /// Gives back the part that the last probe came from, so that the next probe is of another delivery, or is another
    /// message. A message's own refusal must not be taken for the gateway's. A part that holds an unanswered message
    /// stays; its resend counts and has its own time.
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

    /// An answer that comes later than this after a device's limit belongs to a message sent after that limit. Gateways
    /// answer within 300 ms, and answers already under way when a limit of all devices begins say nothing about it.
    static let answerTime = Duration.seconds(1)

    /// Keeps one device's limit undecided until it is known not to be a limit of all devices.
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

    /// Other messages pass, or there are none: these limits are the devices' own.
    ///
    /// - Parameter answered: when the last of the other messages was answered; nil if there are none.
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

    /// The gateway has answered a message: the path to it works.
    mutating func gatewayAnswered(_ outcome: Outcome, _ part: HeldPart) {
        gateway.answered(at: moment)
        guard outcome.outcomeClass == .accepted else { return }
        gateway.passed(at: moment)
        notes.forgetReasons(ofDelivery: part.claimed.deliveryID)
    }

    /// Acts on the answers of one read.
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

    /// Holds a delivery whose messages get an undocumented answer again and again while others pass: it alone is to
    /// blame.
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
                "The gateway gives \(count) messages of the delivery an undocumented answer "
                + "(\(gateway.detector.reason)), while others pass. "
                + "No message has failed. Correct the content, or stop the delivery; resume it to try again."
            holdDelivery(delivery, reason: reason, &actions)
        }
    }

    /// Checks whether the failures amount to trouble now.
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

    /// Stops sending and deciding, and gives all parts back unchanged. The child stays.
    mutating func leave(_ actions: inout [Action]) {
        admission.leave()
        actions.append(.cancelQueued)
    }

    /// Describes a gateway failure for people.
    private static func troubleWords(_ outcome: Outcome) -> String {
        let words = words(outcome)
        switch (outcome.outcomeClass, outcome.fault) {
        case (.ambiguous, _) where outcome.status != 0:
            return "\(words): the answer is not in the gateway's format, or something other than the gateway sent it"
        case (.ambiguous, _) where outcome.reason == AnswerTable.timeout: return "no answer in time"
        case (.ambiguous, _) where outcome.reason == AnswerTable.connectionLost:
            return "connections end before messages are answered"
        case (.ambiguous, _): return "streams are reset before messages are answered (\(words))"
        case (_, .foreign): return "\(words): not the gateway's answer; a proxy or another server sent it"
        default: return words
        }
    }

    /// Status and reason as one text for people.
    static func words(_ outcome: Outcome) -> String {
        [outcome.status == 0 ? "" : String(outcome.status), outcome.reason].filter { !$0.isEmpty }.joined(
            separator: " "
        )
    }

    /// One device's limit, undecided so far.
    struct HeldSoft: Sendable {
        let subscription: Int64
        let message: MassFailureGuard.Held
        /// When its answer came, on the owner's monotonic clock.
        let since: Duration
    }
}
