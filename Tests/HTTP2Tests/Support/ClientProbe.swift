import HTTP2
import Synchronization

/// A client's owner that records everything reported to it.
final class ClientProbe: HTTP2ClientDelegate {
    struct Resolved: Sendable {
        var tag: Int64
        var index: Int32
        var latencyMicroseconds: UInt32
        var result: HTTP2Result
    }

    struct Seen: Sendable {
        var resolved: [Resolved] = []
        var events: [HTTP2ConnectionEvent] = []
        var answered = 0
        var unprocessed = 0
        var ambiguous = 0
        /// Each announcement of requests that leave, as ranges by batch.
        var departures: [[(tag: Int64, range: Range<Int32>)]] = []

        /// The total number of announced requests.
        var announced: Int { departures.joined().reduce(0) { $0 + $1.range.count } }

        /// How often each request of a batch was announced.
        func announcements(_ tag: Int64, _ size: Int) -> [Int] {
            var counts = [Int](repeating: 0, count: size)
            for one in departures.joined() where one.tag == tag { for index in one.range { counts[Int(index)] += 1 } }
            return counts
        }

        /// How often each request of a batch was resolved.
        func counts(_ tag: Int64, _ size: Int) -> [Int] {
            var counts = [Int](repeating: 0, count: size)
            for one in resolved where one.tag == tag { counts[Int(one.index)] += 1 }
            return counts
        }

        var responses: [HTTP2Response] {
            resolved.compactMap { if case .response(let response) = $0.result { response } else { nil } }
        }

        var failures: [HTTP2Failure.Cause] {
            resolved.compactMap {
                switch $0.result {
                case .response: nil
                case .unprocessed(let failure), .ambiguous(let failure): failure.cause
                }
            }
        }

        var openings: Int { events.count { if case .opened = $0 { true } else { false } } }
        var endings: [String?] { events.compactMap { if case .closed(let reason) = $0 { .some(reason) } else { nil } } }
        var limits: [Int] { events.compactMap { if case .limitChanged(let limit) = $0 { limit } else { nil } } }
        var failedDials: [(reason: String, attempt: Int, delay: Int64)] {
            events.compactMap {
                if case .dialFailed(let reason, let attempt, let delay) = $0 { (reason, attempt, delay) } else { nil }
            }
        }
        var goAways: [(code: HTTP2ErrorCode, lastStreamID: Int32, debugData: String)] {
            events.compactMap {
                if case .goAway(let code, let last, let data, _) = $0 {
                    (code, last, String(decoding: data, as: UTF8.self))
                } else {
                    nil
                }
            }
        }
    }

    let seen = Observed(Seen())
    private let reaction = Mutex<(@Sendable ([HTTP2Completion]) -> Void)?>(nil)
    private let eventReaction = Mutex<(@Sendable (HTTP2ConnectionEvent) -> Void)?>(nil)

    private let decision = Mutex<(@Sendable ([HTTP2Departure]) -> Bool)?>(nil)

    /// The answer to `aboutToSend`, after recording it.
    func onAboutToSend(_ decision: @escaping @Sendable ([HTTP2Departure]) -> Bool) {
        self.decision.withLock { $0 = decision }
    }

    /// What to do inside `completed`, after recording it.
    func onCompleted(_ reaction: @escaping @Sendable ([HTTP2Completion]) -> Void) {
        self.reaction.withLock { $0 = reaction }
    }

    /// What to do inside `connectionEvent`, after recording it.
    func onEvent(_ reaction: @escaping @Sendable (HTTP2ConnectionEvent) -> Void) {
        eventReaction.withLock { $0 = reaction }
    }

    func aboutToSend(_ requests: [HTTP2Departure]) -> Bool {
        seen.update { $0.departures.append(requests.map { ($0.batch.tag, $0.range) }) }
        return decision.withLock { $0 }?(requests) ?? true
    }

    func completed(_ completions: [HTTP2Completion]) {
        seen.update { seen in
            for completion in completions {
                seen.resolved.append(
                    Resolved(
                        tag: completion.batch.tag,
                        index: completion.index,
                        latencyMicroseconds: completion.latencyMicroseconds,
                        result: completion.result
                    )
                )
                switch completion.result {
                case .response: seen.answered += 1
                case .unprocessed: seen.unprocessed += 1
                case .ambiguous: seen.ambiguous += 1
                }
            }
        }
        reaction.withLock { $0 }?(completions)
    }

    func connectionEvent(_ event: HTTP2ConnectionEvent) {
        seen.update { $0.events.append(event) }
        eventReaction.withLock { $0 }?(event)
    }

    /// Waits until this many requests are resolved.
    @discardableResult
    func resolved(_ count: Int) async throws -> Seen {
        try await seen.wait(for: "\(count) resolved requests") { $0.resolved.count >= count }
    }
}
