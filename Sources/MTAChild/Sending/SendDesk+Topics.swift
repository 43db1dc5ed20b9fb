import Gateways
import PushCore
import Store

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
        decide(topicGuards[delivery]?.takeAll() ?? [], now, &actions)
    }

    private mutating func holdForTokens(_ delivery: Int64, _ actions: inout [Action]) {
        let refused = topicGuards[delivery]?.refused ?? 0
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
