import HTTPConnections
import PushCore
import Synchronization

/// Counts the connections of one port, and reserves some for the API.
///
/// Before its first request it is unknown whether a connection will use the API. So the reserved connections are
/// granted on probation: they refuse requests that are not for the API (or the health pages), and close unless an API
/// key is accepted on them. Half of them are only for addresses that have sent accepted keys before.
final class PortAdmission: Sendable {
    private struct State {
        var ordinary = 0
        var kept = 0
    }

    let clients: ClientAdmission
    private let maxOrdinary: Int
    private let maxKept: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: the maximum number of connections of the port.
    ///   - kept: how many of them are reserved for the API.
    init(clients: ClientAdmission, limit: Int, kept: Int) {
        self.clients = clients
        maxOrdinary = limit - kept
        maxKept = kept
    }

    /// Admits a connection; nil if it must be closed at once.
    func open(_ peer: IPAddress?) -> ConnectionTicket? {
        if let peer, !clients.open(peer) { return nil }
        let isProven = peer.map(clients.isProven) ?? true
        let isOrdinary = state.withLock { state -> Bool? in
            // The port itself enforces the total, except for connections accepted together with the last one. If none
            // is reserved, these are ordinary ones.
            if state.ordinary < maxOrdinary || maxKept == 0 {
                state.ordinary += 1
                return true
            }
            guard isProven || state.kept < maxKept / 2 else { return nil }
            state.kept += 1
            return false
        }
        guard let isOrdinary else {
            if let peer { clients.close(peer) }
            return nil
        }
        return ConnectionTicket(self, peer, isOrdinary: isOrdinary)
    }

    /// Turns a reserved connection into an ordinary one, if there is room.
    fileprivate func promote() -> Bool {
        state.withLock { state in
            guard state.ordinary < maxOrdinary else { return false }
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

/// The place of an admitted connection. Used on its event loop.
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

    /// Whether the connection may be used for everything: it is not a reserved one, or no longer needs to be.
    func isOrdinary() -> Bool {
        state.withLock { state in
            if !state.isOrdinary { state.isOrdinary = port.promote() }
            return state.isOrdinary
        }
    }

    /// Whether an API key was accepted on the connection.
    var isProven: Bool { state.withLock(\.isProven) }

    /// Notes that an API key was accepted on the connection.
    func prove() {
        let isFirst = state.withLock { state in
            defer { state.isProven = true }
            return !state.isProven
        }
        if isFirst, let peer { port.clients.prove(peer) }
    }

    /// Releases the place.
    func close() {
        let isOrdinary = state.withLock { state -> Bool? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.isOrdinary
        }
        if let isOrdinary { port.close(peer, isOrdinary: isOrdinary) }
    }
}
