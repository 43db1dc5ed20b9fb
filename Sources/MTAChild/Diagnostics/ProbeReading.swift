import Gateways
import PushCore

/// Turns a gateway's events and outcomes during a test into results.
struct ProbeReading: Sendable {
    let kind: any GatewayKind
    let address: String
    let hasToken: Bool
    /// Whether no more results will come.
    private(set) var isDone = false
    private var isConnected = false

    init(kind: any GatewayKind, address: String, hasToken: Bool) {
        self.kind = kind
        self.address = address
        self.hasToken = hasToken
    }

    /// Turns one sign into results.
    ///
    /// - Parameter sends: whether a message is sent; without one, the connection is the only result.
    mutating func read(_ sign: ProbeDelegate.Sign, sends: Bool) -> [ProbeResult] {
        switch sign {
        case .event(let event): return read(event, sends: sends)
        case .outcome(let outcome): return read(outcome)
        case .timeUp:
            isDone = true
            let text =
                isConnected
                ? "\(address) did not answer in time: try again, and check the network and its proxies"
                : "no connection to \(address) was established in time: "
                    + "check host and port of the external account, DNS, firewall and network"
            return [ProbeResult(isConnected ? "message" : "connection", .failed, text)]
        }
    }

    private mutating func read(_ event: GatewayEvent, sends: Bool) -> [ProbeResult] {
        switch event.kind {
        case .connected, .recovered:
            guard !isConnected else { return [] }
            isConnected = true
            isDone = !sends
            return [ProbeResult("connection", .ok, event.message)]
        case .tokenRenewed:
            return [ProbeResult("access token", .ok, event.message)]
        case .unreachable, .untrusted, .connectionLost:
            isDone = true
            return [ProbeResult("connection", .failed, event.message)]
        case .tokenUnavailable:
            isDone = true
            return [ProbeResult("access token", .failed, event.message)]
        case .applicationStopped:
            isDone = true
            return [ProbeResult("authentication", .failed, event.message)]
        case .goAway, .unproved, .applicationThrottled:
            return [ProbeResult("connection", .warning, event.message)]
        }
    }

    private mutating func read(_ outcome: Outcome) -> [ProbeResult] {
        switch outcome.outcomeClass {
        case .accepted:
            isDone = true
            return [ProbeResult("message", .ok, kind.acceptance(hasDevice: hasToken))]
        case .stopApplication:
            // The event that follows in the same turn of the loop says more.
            return []
        case .unprocessed, .ambiguous:
            isDone = true
            let said = outcome.status == 0 ? "the message got no answer (\(outcome.reason))" : said(outcome)
            return [ProbeResult("message", .failed, "\(said): \(explanation(outcome))")]
        case .permanent, .retry, .stopDelivery:
            isDone = true
            return [refusal(outcome)]
        }
    }

    private func refusal(_ outcome: Outcome) -> ProbeResult {
        let meaning = explanation(outcome)
        // The message did not reach the gateway, so nothing is known about it.
        guard !outcome.neverLeft else {
            return ProbeResult(
                "message",
                .failed,
                "the message was refused before it was sent, \(outcome.reason): \(meaning)"
            )
        }
        let isTokenAtFault = kind.answers.row(of: outcome)?.isDoubtful == true || outcome.tokenEffect != .none
        if !hasToken, isTokenAtFault, outcome.outcomeClass == .permanent {
            return ProbeResult(
                "message",
                .ok,
                "\(said(outcome)), as expected for a push token that no device has: everything else is right"
            )
        }
        let result: ProbeResult.Result = outcome.outcomeClass == .retry ? .warning : .failed
        return ProbeResult("message", result, "\(said(outcome)): \(meaning)")
    }

    private func said(_ outcome: Outcome) -> String {
        "the gateway answers \(outcome.status) \(outcome.reason)"
    }

    /// Cause and remedy from the answer table.
    private func explanation(_ outcome: Outcome) -> String {
        kind.answers.row(of: outcome)?.explanation ?? "PushMTA does not know this answer"
    }
}

/// The result of one step of a gateway's test.
package struct ProbeResult: Sendable, Hashable {
    package enum Result: String, Sendable, Hashable {
        /// All is well.
        case ok
        /// Messages can be sent, but an operator should know.
        case warning
        /// Messages cannot be sent.
        case failed
    }

    package let step: String
    package let result: Result
    /// What was found; for a problem, also its cause and remedy.
    package let text: String

    init(_ step: String, _ result: Result, _ text: String) {
        self.step = step
        self.result = result
        self.text = text
    }
}
