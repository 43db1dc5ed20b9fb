import HTTPConnections
import Logging
import PushCore
import Synchronization

/// Decides whether a client may have another connection or concurrent request. One instance serves all ports.
///
/// A client that connects directly is counted by its connections. Behind a trusted proxy all connections belong to the
/// proxy, so a client is counted by its concurrent requests, each of which occupies one of them.
final class ClientAdmission: Sendable {
    private struct State {
        var clients: ClientConnections
        /// Addresses that have sent accepted API keys, and when each entry expires.
        var proven: [IPAddress: ContinuousClock.Instant] = [:]
        var notices = NoticePace()
    }

    /// How long an address that sent an accepted key is remembered. Systems that use the API do so every few minutes.
    private static let provenFor = Duration.seconds(3_600)
    /// The maximum number of remembered addresses; an installation has a handful of API clients.
    private static let maxProven = 1_000

    private let state: Mutex<State>
    private let trust: ProxyTrust
    private let counters: WebCounters
    private let logger: Logger

    init(limit: Int, trust: ProxyTrust, counters: WebCounters, logger: Logger) {
        state = Mutex(State(clients: ClientConnections(limit: limit)))
        self.trust = trust
        self.counters = counters
        self.logger = logger
    }

    /// Sets the maximum number of concurrent connections of a client.
    func limit(to maximum: Int) {
        state.withLock { $0.clients.limit = maximum }
    }

    /// Counts a connection or a concurrent request of a client; false if it exceeds the limit. A trusted proxy has no
    /// limit.
    func open(_ client: IPAddress) -> Bool {
        guard !trust.trusts(client) else { return true }
        let (isOpen, notice) = state.withLock { state -> (Bool, Int?) in
            if state.clients.open(client) { return (true, nil) }
            return (false, state.notices.add(1))
        }
        if !isOpen { counters.add { $0.crowded += 1 } }
        if let notice {
            logger.warning(
                "\(notice) connections or requests were refused because their clients have too many at once (web.limits.maxConnectionsPerClient); the last client was \(client)."
            )
        }
        return isOpen
    }

    /// Releases what ``open(_:)`` has counted.
    func close(_ client: IPAddress) {
        guard !trust.trusts(client) else { return }
        state.withLock { $0.clients.close(client) }
    }

    /// Remembers that an address has sent an accepted API key.
    func prove(_ client: IPAddress) {
        let now = ContinuousClock.now
        state.withLock { state in
            if state.proven.count >= Self.maxProven, state.proven[client] == nil {
                state.proven = state.proven.filter { $0.value > now }
                guard state.proven.count < Self.maxProven else { return }
            }
            state.proven[client] = now + Self.provenFor
        }
    }

    /// Whether an address may use all connections reserved for the API: it has used the API, or it is a trusted proxy.
    func isProven(_ client: IPAddress) -> Bool {
        trust.trusts(client) || state.withLock { $0.proven[client].map { $0 > .now } ?? false }
    }
}
