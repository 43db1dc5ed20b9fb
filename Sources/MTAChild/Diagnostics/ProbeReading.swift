import Gateways
import PushCore

/// Makes results of what a gateway tells while it is tried.
struct ProbeReading: Sendable {
    let format: PayloadFormat
    let address: String
    let hasToken: Bool
    /// Nothing more is to be learnt.
    private(set) var isDone = false
    private var isConnected = false

    init(format: PayloadFormat, address: String, hasToken: Bool) {
        self.format = format
        self.address = address
        self.hasToken = hasToken
    }

    /// Reads one sign.
    ///
    /// - Parameter sends: whether a message is on its way; without one, the connection is all there is to see.
    mutating func read(_ sign: ProbeDelegate.Sign, sends: Bool) -> [ProbeResult] {
        switch sign {
        case .event(let event): return read(event, sends: sends)
        case .outcome(let outcome): return read(outcome)
        case .timeUp:
            isDone = true
            let text =
                isConnected
                ? "\(address) did not answer in time: try again, and look at the network and its proxies"
                : "no connection to \(address) came about in time: check host and port of the external account, DNS, firewall and network"
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
            return [ProbeResult("message", .ok, acceptedText)]
        case .stopApplication:
            // The event that follows in the same turn says more.
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

    private var acceptedText: String {
        switch format {
        case .apns: hasToken ? "APNs took the push; it is on its way to the device" : "the gateway takes pushes"
        case .apnsBinary: "the gateway said nothing against the push, which is how it accepts"
        case .fcmV1, .fcmLegacy: "FCM checked the message and would take it; nothing was delivered"
        }
    }

    private func refusal(_ outcome: Outcome) -> ProbeResult {
        let meaning = explanation(outcome)
        // The gateway was not asked: nothing is known of it.
        guard !outcome.neverLeft else {
            return ProbeResult("message", .failed, "the message is refused here, \(outcome.reason): \(meaning)")
        }
        let isTokenAtFault = row(outcome)?.isDoubtful == true || outcome.tokenEffect != .none
        if !hasToken, isTokenAtFault, outcome.outcomeClass == .permanent {
            return ProbeResult(
                "message",
                .ok,
                "\(said(outcome)), which it says of a push token that no device has: everything else is right"
            )
        }
        let result: ProbeResult.Result = outcome.outcomeClass == .retry ? .warning : .failed
        return ProbeResult("message", result, "\(said(outcome)): \(meaning)")
    }

    private func said(_ outcome: Outcome) -> String {
        "the gateway answers \(outcome.status) \(outcome.reason)"
    }

    /// Cause and remedy, from the answer table.
    private func explanation(_ outcome: Outcome) -> String {
        row(outcome)?.explanation ?? "the answer is not known here"
    }

    private func row(_ outcome: Outcome) -> AnswerRow? {
        let gateway = AnswerGateway(format)
        let isAmbiguous = outcome.outcomeClass == .ambiguous
        if outcome.outcomeClass == .permanent, outcome.neverLeft {
            return AnswerTable.check(gateway, reason: outcome.reason)
        }
        if outcome.outcomeClass == .unprocessed || isAmbiguous, outcome.status == 0 {
            return AnswerTable.noAnswer(gateway, reason: outcome.reason, isWritten: isAmbiguous)
        }
        let rows = AnswerTable.rows.lazy.filter {
            $0.gateway == gateway && $0.source == .response && $0.status == outcome.status
        }
        return rows.first { $0.reason == outcome.reason && $0.outcomeClass == outcome.outcomeClass }
            ?? rows.first { $0.reason == outcome.reason } ?? rows.first { $0.reason.isEmpty }
    }
}

/// What one step of trying a gateway showed.
public struct ProbeResult: Sendable, Hashable {
    public enum Result: String, Sendable, Hashable {
        /// As it should.
        case ok
        /// Well enough to send, but somebody should know.
        case warning
        /// Messages would not be sent.
        case failed
    }

    public let step: String
    public let result: Result
    /// What was found; if it is not right, why and what to do.
    public let text: String

    init(_ step: String, _ result: Result, _ text: String) {
        self.step = step
        self.result = result
        self.text = text
    }
}
