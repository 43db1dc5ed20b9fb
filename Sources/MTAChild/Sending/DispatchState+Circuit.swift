import Gateways
import PushCore
import Store

/// The application's circuit, and answers that are doubtful.
extension DispatchState {
    /// Every message would be refused: nothing more leaves, nothing is decided for it, all parts go back.
    mutating func openCircuit(reason: String, holdsTokenEffects: Bool, _ actions: inout [Action]) {
        guard admission.openCircuit() else { return }
        actions += [.openCircuit(reason: reason, holdsTokenEffects: holdsTokenEffects), .cancelQueued]
    }

    /// Somebody else has opened the circuit; a probing child knows better.
    mutating func circuitFoundOpen(_ actions: inout [Action]) {
        guard admission.circuit == .closed, admission.openCircuit() else { return }
        actions.append(.cancelQueued)
    }

    mutating func fastShutdown(_ actions: inout [Action]) {
        admission.shutDown()
        actions.append(.cancelQueued)
    }

    /// Opens the circuit if too many tokens are refused, and decides about those whose time has come.
    mutating func guardAgainstMassFailure(_ now: Int64, _ actions: inout [Action]) {
        guard !guards.application.isEmpty else { return }
        if guards.application.isTripped || admission.circuit == .probing && guards.application.isTrippedByProbe {
            openCircuitForTokens(&actions)
        }
        guard admission.circuit != .open else { return }
        decide(guards.application.takeOld(), now, &actions)
        guard guards.application.hasOldUnproven else { return }
        // They are not kept for ever: whatever is known of tokens that have worked has to do.
        if guards.application.isTrippedWhenQuiet { return openCircuitForTokens(&actions) }
        let old = guards.application.takeOldUnproven()
        guards.application.trustsUnprovenRefusals ? decide(old, now, &actions) : putAside(old, now, &actions)
    }

    private mutating func openCircuitForTokens(_ actions: inout [Action]) {
        // Those that made it open are judged by themselves when they go out again, so that they do not open it once more for the others.
        for claim in guards.application.suspects { parts[claim]?.goesAlone = true }
        let others = admission.circuit == .probing ? guards.application.unprovenCount : 0
        let (refused, answers) = (
            guards.application.doubtfulCount + others, guards.application.answersInWindow + Int64(others)
        )
        openCircuit(
            reason: "the gateway refused the push tokens of \(refused) of the last \(answers) messages",
            holdsTokenEffects: true,
            &actions
        )
    }

    /// When nothing is on the wire or waits, no more answers will come that could show more.
    mutating func decideWhenQuiet(_ now: Int64, _ actions: inout [Action]) {
        guard !guards.application.isEmpty, !admission.givesBack, flights.isEmpty, waiting.isEmpty else {
            return
        }
        guard admission.circuit == .closed else {
            // A probe that met doubtful tokens only proves nothing: better ask again than disable tokens.
            openCircuit(
                reason: "the gateway refused the push token of every message of the probe",
                holdsTokenEffects: true,
                &actions
            )
            return resolveHalted(&actions)
        }
        guard !guards.application.isTrippedWhenQuiet else {
            openCircuitForTokens(&actions)
            return resolveHalted(&actions)
        }
        // A part that is put aside takes along what counts of it.
        let unproven = guards.application.takeAllUnproven()
        guards.application.trustsUnprovenRefusals ? decide(unproven, now, &actions) : putAside(unproven, now, &actions)
        decide(guards.application.takeAll(), now, &actions)
    }

    /// Nothing gets through: it cannot be told whether these push tokens are wrong or the gateway. Their parts wait for others of their
    /// delivery to go first; who knows already that these get through decides.
    mutating func putAside(_ held: [MassFailureGuard.Held], _ now: Int64, _ actions: inout [Action]) {
        let believed = held.filter { parts[$0.claim]?.claimed.othersPass == true }
        decide(believed, now, &actions)
        let refused = Set(held.lazy.map(\.claim)).filter { parts[$0]?.claimed.othersPass == false }
        guard !refused.isEmpty else { return }
        for claim in refused {
            parts[claim]?.refusal = Self.refusedTokens
            parts[claim]?.goesAlone = true
            guards.application.drop(claim)
            if let delivery = parts[claim]?.claimed.deliveryID { guards.topics[delivery]?.drop(claim) }
        }
        endings.add(.refused)
        actions.append(.cancelQueued)
        resolveHalted(&actions)
    }

    /// Why a part waits of which nothing got through.
    private static let refusedTokens =
        "the gateway refused the push tokens of all messages that were tried, none of which ever worked; no message has failed"

    /// The gateway was right about these tokens.
    mutating func decide(_ held: [MassFailureGuard.Held], _ now: Int64, _ actions: inout [Action]) {
        for message in held {
            guard var part = parts[message.claim] else { continue }
            var answer = JournalAnswer(
                sequence: part.sequences[Int(message.row)],
                outcomeClass: .permanent,
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
}

/// Deliveries whose push type has a topic, and push tokens, of its own: what the gateway says of these concerns them alone.
extension DispatchState {
    /// Holds a delivery back: nothing more of it leaves, nothing is decided for what was refused, its parts go back.
    mutating func holdDelivery(_ delivery: Int64, reason: String, _ actions: inout [Action]) {
        guard pauses.hold(delivery) else { return }
        guards.topics[delivery] = nil
        actions += [.holdDelivery(delivery, reason: reason), .cancelQueued]
    }

    /// Whether an answer that condemns a push token has to wait for others: those of a delivery of which nothing got through.
    func isTopicAmbiguous(_ delivery: Int64) -> Bool { guards.topics[delivery]?.hasWorked != true }

    /// Why a delivery is held whose topic the gateway refuses.
    static func topicReason(_ outcome: Outcome, _ type: PushType) -> String {
        let row = AnswerTable.apns(status: outcome.status, reason: outcome.reason, isSuffixed: true)
        return
            "The gateway answers \(outcome.status) \(outcome.reason) to push type \(type.rawValue): \(row.explanation)."
    }

    /// Holds a delivery of which every message was refused because of its token, and decides when one got through.
    mutating func guardTopic(_ delivery: Int64, _ now: Int64, _ actions: inout [Action]) {
        guard let topic = guards.topics[delivery], !topic.isEmpty else { return }
        if topic.hasWorked {
            decideTopic(delivery, now, &actions)
        } else if topic.isTripped || admission.circuit == .probing && topic.isTrippedByProbe {
            holdForTokens(delivery, &actions)
        } else if topic.hasManyUnproven {
            putTopicAside(delivery, now, &actions)
        } else if admission.circuit == .probing, topic.hasManyUnprovenInProbe {
            putTopicAside(delivery, now, &actions)
            fastShutdown(&actions)
        }
    }

    /// When nothing of a delivery is on the wire or waits, no more answers will come that could show more.
    mutating func guardQuietTopics(_ now: Int64, _ actions: inout [Action]) {
        guard !guards.topics.isEmpty, !admission.givesBack else { return }
        for delivery in guards.topics.keys.sorted() {
            guard let topic = guards.topics[delivery], !topic.isEmpty, pauses.halts[delivery] == nil, isQuiet(delivery)
            else {
                continue
            }
            if topic.isTrippedWhenQuiet {
                holdForTokens(delivery, &actions)
            } else if admission.circuit == .closed {
                // A part that is put aside takes along what counts of it.
                if !topic.trustsUnprovenRefusals { putTopicAside(delivery, now, &actions) }
                decideTopic(delivery, now, &actions)
            } else {
                // A probe that met such tokens only proves nothing: another delivery's message is asked for next.
                fastShutdown(&actions)
            }
        }
        resolveHalted(&actions)
    }

    private func isQuiet(_ delivery: Int64) -> Bool {
        !parts.values.contains { $0.claimed.deliveryID == delivery && !$0.isFenced && !$0.slices.isEmpty }
            && !flights.all.contains { parts[$0.claim]?.claimed.deliveryID == delivery }
    }

    private mutating func decideTopic(_ delivery: Int64, _ now: Int64, _ actions: inout [Action]) {
        decide(guards.topics[delivery]?.takeAllUnproven() ?? [], now, &actions)
        decide(guards.topics[delivery]?.takeAll() ?? [], now, &actions)
    }

    private mutating func putTopicAside(_ delivery: Int64, _ now: Int64, _ actions: inout [Action]) {
        putAside(guards.topics[delivery]?.takeAllUnproven() ?? [], now, &actions)
    }

    private mutating func holdForTokens(_ delivery: Int64, _ actions: inout [Action]) {
        let refused = guards.topics[delivery]?.allRefused ?? 0
        holdDelivery(
            delivery,
            reason:
                "The gateway refused the push tokens of all \(refused) messages that were tried. The delivery's push type "
                + "needs push tokens of its own; no message has failed and no token was touched. Stop the delivery, or resume it "
                + "when its subscriptions have such tokens.",
            &actions
        )
    }

    /// Forgets what is undecided of a part: it ends, or goes to another owner.
    mutating func dropUndecided(_ claim: PartToken) {
        guards.application.drop(claim)
        notes.drop(claim)
        for delivery in guards.topics.keys { guards.topics[delivery]?.drop(claim) }
    }
}
