import Gateways
import PushCore
import Store

/// The application's circuit, and doubtful answers.
extension DispatchState {
    /// Every message would be refused: stops sending and deciding, and gives all parts back.
    mutating func openCircuit(reason: String, holdsTokenEffects: Bool, _ actions: inout [Action]) {
        guard admission.openCircuit() else { return }
        actions += [.openCircuit(reason: reason, holdsTokenEffects: holdsTokenEffects), .cancelQueued]
    }

    /// Another process or an operator has opened the circuit. A probing child ignores it, because its knowledge is
    /// newer.
    mutating func circuitFoundOpen(_ actions: inout [Action]) {
        guard admission.circuit == .closed, admission.openCircuit() else { return }
        actions.append(.cancelQueued)
    }

    mutating func fastShutdown(_ actions: inout [Action]) {
        admission.shutDown()
        actions.append(.cancelQueued)
    }

    /// Opens the circuit if too many tokens are refused, and decides the held messages whose time has come.
    mutating func guardAgainstMassFailure(_ now: Int64, _ actions: inout [Action]) {
        guard !guards.application.isEmpty else { return }
        if guards.application.isTripped || admission.circuit == .probing && guards.application.isTrippedByProbe {
            openCircuitForTokens(&actions)
        }
        guard admission.circuit != .open else { return }
        decide(guards.application.takeOld(), now, &actions)
        guard guards.application.hasOldUnproven else { return }
        // They are not held forever: the decision rests on what is known about tokens that have worked.
        if guards.application.isTrippedWhenQuiet { return openCircuitForTokens(&actions) }
        let old = guards.application.takeOldUnproven()
        guards.application.trustsUnprovenRefusals ? decide(old, now, &actions) : putAside(old, now, &actions)
    }

    private mutating func openCircuitForTokens(_ actions: inout [Action]) {
        // The parts that opened the circuit go out alone next time, so that they do not open it again for the others.
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

    /// Decides when no message is on the wire or waiting: no further answers can come.
    mutating func decideWhenQuiet(_ now: Int64, _ actions: inout [Action]) {
        guard !guards.application.isEmpty, !admission.givesBack, flights.isEmpty, waiting.isEmpty else {
            return
        }
        guard admission.circuit == .closed else {
            // A probe that met only doubtful tokens proves nothing: another probe is better than disabled tokens.
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
        // Putting a part aside also drops its held messages that count.
        let unproven = guards.application.takeAllUnproven()
        guards.application.trustsUnprovenRefusals ? decide(unproven, now, &actions) : putAside(unproven, now, &actions)
        decide(guards.application.takeAll(), now, &actions)
    }

    /// Nothing gets through, so it is unclear whether the push tokens are wrong or the gateway is. The parts wait while
    /// others of their delivery go first. Parts claimed with the knowledge that others get through are decided now.
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

    /// Why a part waits when none of its messages got through. Its tokens may have worked before: those of a part that
    /// goes alone have been counted already.
    private static let refusedTokens =
        "the gateway refused the push tokens of all messages tried, and accepted no others meanwhile; "
        + "no message has failed"

    /// Decides held messages as the gateway answered: it was right about these tokens.
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

/// Deliveries whose push type has its own topic and push tokens: the gateway's answers about these concern only them.
extension DispatchState {
    /// Holds a delivery: its messages no longer leave, refused ones stay undecided, and its parts go back.
    mutating func holdDelivery(_ delivery: Int64, reason: String, _ actions: inout [Action]) {
        guard pauses.hold(delivery) else { return }
        guards.topics[delivery] = nil
        actions += [.holdDelivery(delivery, reason: reason), .cancelQueued]
    }

    /// Whether an answer that condemns a push token has to wait for other answers: true while nothing of the delivery
    /// got through.
    func isTopicAmbiguous(_ delivery: Int64) -> Bool { guards.topics[delivery]?.hasWorked != true }

    /// Why a delivery is held when the gateway refuses its topic.
    func topicReason(_ outcome: Outcome, _ type: PushType) -> String {
        let explanation = gatewayAnswers?.row(of: outcome).map { ": \($0.explanation)" } ?? ""
        return "The gateway answers \(outcome.status) \(outcome.reason) to push type \(type.rawValue)\(explanation)."
    }

    /// Holds a delivery if every message was refused because of its token, and decides once one gets through.
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

    /// Decides when no message of a delivery is on the wire or waiting: no further answers can come.
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
                // Putting a part aside also drops its held messages that count.
                if !topic.trustsUnprovenRefusals { putTopicAside(delivery, now, &actions) }
                decideTopic(delivery, now, &actions)
            } else {
                // A probe that met only such tokens proves nothing: the next one uses another delivery's message.
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
                "The gateway refused the push tokens of all \(refused) messages tried. The delivery's push type "
                + "needs its own push tokens. No message has failed and no token was changed. Stop the delivery, "
                + "or resume it once its subscriptions have such tokens.",
            &actions
        )
    }

    /// Forgets a part's undecided messages: the part ends, or goes to another owner.
    mutating func dropUndecided(_ claim: PartToken) {
        guards.application.drop(claim)
        notes.drop(claim)
        for delivery in guards.topics.keys { guards.topics[delivery]?.drop(claim) }
    }
}
