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
        if circuit != .open { decide(massFailure.takeOld(), now, &actions) }
    }

    private mutating func openCircuitForTokens(_ actions: inout [Action]) {
        let (refused, answers) = (massFailure.doubtfulCount, massFailure.answersInWindow)
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
        decide(massFailure.takeAll(), now, &actions)
    }

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
