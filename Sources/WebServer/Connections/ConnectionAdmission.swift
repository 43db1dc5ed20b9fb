import HTTPConnections
import Logging
import PushCore
import Synchronization

/// Says which clients may have another connection, or another request under way: one for all ports.
///
/// A client that connects by itself is counted by its connections. Behind a trusted proxy all connections are the proxy's, so there the
/// client is counted by its requests under way, each of which takes one of them.
final class ClientAdmission: Sendable {
    private struct State {
        var clients: ClientConnections
        /// Addresses whose keys of the API were accepted, and until when that is remembered.
        var proven: [IPAddress: ContinuousClock.Instant] = [:]
        var notices = NoticePace()
    }

    /// How long an address is remembered from which an accepted key came: systems that use the API do it every few minutes.
    private static let provenFor = Duration.seconds(3_600)
    /// Addresses that are remembered; an installation has a handful of systems that use its API.
    private static let mostProven = 1_000

    private let state: Mutex<State>
    private let trust: ProxyTrust
    private let counters: WebCounters
    private let logger: Logger

    init(most: Int, trust: ProxyTrust, counters: WebCounters, logger: Logger) {
        state = Mutex(State(clients: ClientConnections(most: most)))
        self.trust = trust
        self.counters = counters
        self.logger = logger
    }

    /// Gives a client so many connections at once from now on.
    func limit(to most: Int) {
        state.withLock { $0.clients.most = most }
    }

    /// Counts a connection, or a request under way, of a client; false if it is one too many. A trusted proxy has no limit.
    func open(_ client: IPAddress) -> Bool {
        guard !trust.trusts(client) else { return true }
        let (isOpen, notice) = state.withLock { state -> (Bool, Int?) in
            if state.clients.open(client) { return (true, nil) }
            return (false, state.notices.add(1))
        }
        if !isOpen { counters.add { $0.crowded += 1 } }
        if let notice {
            logger.warning(
                "\(notice) connections or requests were refused, as their clients have too many at once (web.limits.maxConnectionsPerClient); the last one was of \(client)."
            )
        }
        return isOpen
    }

    /// Gives back what ``open(_:)`` has counted.
    func close(_ client: IPAddress) {
        guard !trust.trusts(client) else { return }
        state.withLock { $0.clients.close(client) }
    }

    /// Remembers that an accepted key of the API came from an address.
    func prove(_ client: IPAddress) {
        let now = ContinuousClock.now
        state.withLock { state in
            if state.proven.count >= Self.mostProven, state.proven[client] == nil {
                state.proven = state.proven.filter { $0.value > now }
                guard state.proven.count < Self.mostProven else { return }
            }
            state.proven[client] = now + Self.provenFor
        }
    }

    /// Whether an address may use all that is kept for the API: it has used it, or it is a proxy's.
    func isProven(_ client: IPAddress) -> Bool {
        trust.trusts(client) || state.withLock { $0.proven[client].map { $0 > .now } ?? false }
    }
}

/// Counts the connections of one port, and keeps some for the API.
///
/// Who will use the API nobody knows before the first request, so the last connections are given out on probation: what is no request to
/// the API (or for the health pages) is refused there, and a connection stays only if a key of its is accepted. Half of them are for
/// addresses from which accepted keys came before.
final class PortAdmission: Sendable {
    private struct State {
        var ordinary = 0
        var kept = 0
    }

    let clients: ClientAdmission
    private let mostOrdinary: Int
    private let mostKept: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - most: connections of the port.
    ///   - kept: how many of them are the API's.
    init(clients: ClientAdmission, most: Int, kept: Int) {
        self.clients = clients
        mostOrdinary = most - kept
        mostKept = kept
    }

    /// Takes a connection in; nil if it is to be closed at once.
    func open(_ peer: IPAddress?) -> ConnectionTicket? {
        if let peer, !clients.open(peer) { return nil }
        let isProven = peer.map(clients.isProven) ?? true
        let isOrdinary = state.withLock { state -> Bool? in
            // The port itself takes no more than all together, but for those that it accepts with the last one: with none kept they are
            // like the others.
            if state.ordinary < mostOrdinary || mostKept == 0 {
                state.ordinary += 1
                return true
            }
            guard isProven || state.kept < mostKept / 2 else { return nil }
            state.kept += 1
            return false
        }
        guard let isOrdinary else {
            if let peer { clients.close(peer) }
            return nil
        }
        return ConnectionTicket(self, peer, isOrdinary: isOrdinary)
    }

    /// Makes a connection that was kept for the API an ordinary one, if there is room for it again.
    fileprivate func promote() -> Bool {
        state.withLock { state in
            guard state.ordinary < mostOrdinary else { return false }
            state.kept -= 1
            state.ordinary += 1
            return true
        }
    }

    fileprivate func close(_ peer: IPAddress?, isOrdinary: Bool) {
        state.withLock { state in
            if isOrdinary { state.ordinary -= 1 } else { state.kept -= 1 }
        }
        if let peer { clients.close(peer) }
    }
}

/// A connection's place; used on its event loop.
final class ConnectionTicket: ConnectionPlace {
    private struct State {
        var isOrdinary: Bool
        var isProven = false
        var isClosed = false
    }

    private let port: PortAdmission
    private let peer: IPAddress?
    private let state: Mutex<State>

    fileprivate init(_ port: PortAdmission, _ peer: IPAddress?, isOrdinary: Bool) {
        self.port = port
        self.peer = peer
        state = Mutex(State(isOrdinary: isOrdinary))
    }

    /// Whether it may be used for everything: it is no connection that is kept for the API, or need not be one any more.
    func isOrdinary() -> Bool {
        state.withLock { state in
            if !state.isOrdinary { state.isOrdinary = port.promote() }
            return state.isOrdinary
        }
    }

    /// Whether a key of the API that came over it was accepted.
    var isProven: Bool { state.withLock(\.isProven) }

    /// An accepted key of the API came over it.
    func prove() {
        let isFirst = state.withLock { state in
            defer { state.isProven = true }
            return !state.isProven
        }
        if isFirst, let peer { port.clients.prove(peer) }
    }

    /// Gives the place back.
    func close() {
        let isOrdinary = state.withLock { state -> Bool? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.isOrdinary
        }
        if let isOrdinary { port.close(peer, isOrdinary: isOrdinary) }
    }
}
