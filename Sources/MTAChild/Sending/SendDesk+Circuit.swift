import Gateways
import PushCore
import Store

/// The application's circuit, and answers that are doubted.
extension SendDesk {
    /// Every message would be refused: nothing more leaves, nothing is decided for it, all parts go back.
    mutating func openCircuit(reason: String, holdsTokenEffects: Bool, _ actions: inout [Action]) {
        guard circuit != .open else { return }
        circuit = .open
        actions.append(.openCircuit(reason: reason, holdsTokenEffects: holdsTokenEffects))
        hurry(&actions)
    }

    /// Somebody else has opened the circuit; a probing child knows better.
    mutating func circuitFoundOpen(_ actions: inout [Action]) {
        guard circuit == .closed else { return }
        circuit = .open
        hurry(&actions)
    }

    mutating func hurry(_ actions: inout [Action]) {
        isHurrying = true
        actions.append(.cancelQueued)
    }

    /// Opens the circuit if too many tokens are refused, and decides about those whose time has come.
    mutating func guardAgainstMassFailure(_ now: Int64, _ actions: inout [Action]) {
        guard !massFailure.isEmpty else { return }
        if massFailure.isTripped || circuit == .probing && massFailure.isTrippedByProbe {
            openCircuitForTokens(&actions)
        }
        guard circuit != .open else { return }
        decide(massFailure.takeOld(), now, &actions)
        guard massFailure.hasOldWeightless else { return }
        // They are not kept for ever: whatever is known of tokens that have worked has to do.
        if massFailure.isTrippedWhenQuiet { return openCircuitForTokens(&actions) }
        let old = massFailure.takeOldWeightless()
        massFailure.believesWeightless ? decide(old, now, &actions) : putAside(old, now, &actions)
    }

    private mutating func openCircuitForTokens(_ actions: inout [Action]) {
        // Those that made it open are judged by themselves when they go out again, so that they do not open it once more for the others.
        for holding in massFailure.suspects { parts[holding]?.goesAlone = true }
        let others = circuit == .probing ? massFailure.weightlessCount : 0
        let (refused, answers) = (massFailure.doubtfulCount + others, massFailure.answersInWindow + Int64(others))
        openCircuit(
            reason: "the gateway refused the push tokens of \(refused) of the last \(answers) messages",
            holdsTokenEffects: true,
            &actions
        )
    }

    /// When nothing is on the wire or waits, no more answers will come that could show more.
    mutating func decideWhenQuiet(_ now: Int64, _ actions: inout [Action]) {
        guard !massFailure.isEmpty, !isHurrying, flights.isEmpty, waiting.isEmpty else { return }
        guard circuit == .closed else {
            // A probe that met doubted tokens only proves nothing: better ask again than disable tokens.
            openCircuit(
                reason: "the gateway refused the push token of every message of the probe",
                holdsTokenEffects: true,
                &actions
            )
            return settleHalted(&actions)
        }
        guard !massFailure.isTrippedWhenQuiet else {
            openCircuitForTokens(&actions)
            return settleHalted(&actions)
        }
        // A part that is put aside takes along what counts of it.
        let weightless = massFailure.takeAllWeightless()
        massFailure.believesWeightless ? decide(weightless, now, &actions) : putAside(weightless, now, &actions)
        decide(massFailure.takeAll(), now, &actions)
    }

    /// Nothing gets through: it cannot be told whether these push tokens are wrong or the gateway. Their parts wait for others of their
    /// delivery to go first; who knows already that these get through decides.
    mutating func putAside(_ held: [MassFailureGuard.Held], _ now: Int64, _ actions: inout [Action]) {
        let believed = held.filter { parts[$0.holding]?.claimed.othersPass == true }
        decide(believed, now, &actions)
        let refused = Set(held.lazy.map(\.holding)).filter { parts[$0]?.claimed.othersPass == false }
        guard !refused.isEmpty else { return }
        for holding in refused {
            parts[holding]?.refusal = Self.refusedTokens
            parts[holding]?.goesAlone = true
            massFailure.drop(holding)
            if let delivery = parts[holding]?.claimed.deliveryID { topicGuards[delivery]?.drop(holding) }
        }
        hasRefused = true
        actions.append(.cancelQueued)
        settleHalted(&actions)
    }

    /// Why a part waits of which nothing got through.
    private static let refusedTokens =
        "the gateway refused the push tokens of all messages that were tried, none of which ever worked; no message has failed"

    /// The gateway was right about these tokens.
    mutating func decide(_ held: [MassFailureGuard.Held], _ now: Int64, _ actions: inout [Action]) {
        for message in held {
            guard var part = parts[message.holding] else { continue }
            var answer = JournalAnswer(
                sequence: part.sequences[Int(message.row)],
                outcomeClass: .permanent,
                status: message.outcome.status,
                attempt: part.claimed.attempt,
                reason: message.outcome.reason,
                tokenEffect: message.outcome.tokenEffect,
                failure: message.outcome.failure
            )
            decide(&part, message.row, message.outcome, now, &answer)
            // It has left the window when its answer came.
            outcomeWindowRows -= 1
            parts[message.holding] = part
            journal([answer], of: part, now, &actions)
            closeIfDone(message.holding, now)
        }
    }
}

/// Deliveries whose push type has a topic, and push tokens, of its own: what the gateway says of these concerns them alone.
extension SendDesk {
    /// Holds a delivery back: nothing more of it leaves, nothing is decided for what was refused, its parts go back.
    mutating func holdDelivery(_ delivery: Int64, reason: String, _ actions: inout [Action]) {
        // One that was stopped or has expired is over, and once is enough.
        if case .close? = halts[delivery] { return }
        guard onHold.insert(delivery).inserted else { return }
        topicGuards[delivery] = nil
        halts[delivery] = .giveBack
        actions += [.holdDelivery(delivery, reason: reason), .cancelQueued]
    }

    /// Whether an answer that condemns a push token has to wait for others: those of a delivery of which nothing got through.
    func isTopicInDoubt(_ delivery: Int64) -> Bool { topicGuards[delivery]?.hasWorked != true }

    /// Why a delivery is held whose topic the gateway refuses.
    static func topicReason(_ outcome: Outcome, _ type: PushType) -> String {
        let row = AnswerTable.apns(status: outcome.status, reason: outcome.reason, isSuffixed: true)
        return
            "The gateway answers \(outcome.status) \(outcome.reason) to push type \(type.rawValue): \(row.explanation)."
    }

    /// Holds a delivery of which every message was refused because of its token, and decides when one got through.
    mutating func guardTopic(_ delivery: Int64, _ now: Int64, _ actions: inout [Action]) {
        guard let topic = topicGuards[delivery], !topic.isEmpty else { return }
        if topic.hasWorked {
            decideTopic(delivery, now, &actions)
        } else if topic.isTripped || circuit == .probing && topic.isTrippedByProbe {
            holdForTokens(delivery, &actions)
        } else if topic.hasManyWeightless {
            putTopicAside(delivery, now, &actions)
        } else if circuit == .probing, topic.hasManyWeightlessInProbe {
            putTopicAside(delivery, now, &actions)
            hurry(&actions)
        }
    }

    /// When nothing of a delivery is on the wire or waits, no more answers will come that could show more.
    mutating func guardQuietTopics(_ now: Int64, _ actions: inout [Action]) {
        guard !topicGuards.isEmpty, !isHurrying else { return }
        for delivery in topicGuards.keys.sorted() {
            guard let topic = topicGuards[delivery], !topic.isEmpty, halts[delivery] == nil, isQuiet(delivery) else {
                continue
            }
            if topic.isTrippedWhenQuiet {
                holdForTokens(delivery, &actions)
            } else if circuit == .closed {
                // A part that is put aside takes along what counts of it.
                if !topic.believesWeightless { putTopicAside(delivery, now, &actions) }
                decideTopic(delivery, now, &actions)
            } else {
                // A probe that met such tokens only proves nothing: another delivery's message is asked for next.
                hurry(&actions)
            }
        }
        settleHalted(&actions)
    }

    private func isQuiet(_ delivery: Int64) -> Bool {
        !parts.values.contains { $0.claimed.deliveryID == delivery && !$0.isFenced && !$0.slices.isEmpty }
            && !flights.values.contains { parts[$0.holding]?.claimed.deliveryID == delivery }
    }

    private mutating func decideTopic(_ delivery: Int64, _ now: Int64, _ actions: inout [Action]) {
        decide(topicGuards[delivery]?.takeAllWeightless() ?? [], now, &actions)
        decide(topicGuards[delivery]?.takeAll() ?? [], now, &actions)
    }

    private mutating func putTopicAside(_ delivery: Int64, _ now: Int64, _ actions: inout [Action]) {
        putAside(topicGuards[delivery]?.takeAllWeightless() ?? [], now, &actions)
    }

    private mutating func holdForTokens(_ delivery: Int64, _ actions: inout [Action]) {
        let refused = topicGuards[delivery]?.allRefused ?? 0
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
    mutating func dropUndecided(_ holding: PartToken) {
        massFailure.drop(holding)
        soft.removeAll { $0.message.holding == holding }
        for delivery in topicGuards.keys { topicGuards[delivery]?.drop(holding) }
    }
}
