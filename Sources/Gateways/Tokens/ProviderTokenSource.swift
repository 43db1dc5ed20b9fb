import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The one provider token of an APNs key in this process, shared by all connections that use the key.
public final class ProviderTokenSource: Sendable {
    /// What became of a token that APNs called expired.
    enum Renewal: Sendable, Equatable {
        /// The current token is a newer one.
        case renewed
        /// The token is too young to be replaced; so many seconds are missing.
        case tooEarly(seconds: Int64)
    }

    private struct Guarded {
        var state = ProviderTokenState()
        var token: AuthorizationToken?
    }

    let key: APNsTokenKey
    private let now: @Sendable () -> Date
    private let guarded = Mutex(Guarded())

    /// Makes the source of a key.
    ///
    /// - Parameter now: the time for `iat`, of the database's clock, so that a host whose clock is wrong makes no token that
    ///   Apple refuses.
    public init(key: APNsTokenKey, now: @escaping @Sendable () -> Date) {
        self.key = key
        self.now = now
    }

    /// The token to send with; a new one when the last is 50 minutes old.
    func current() throws -> AuthorizationToken {
        try guarded.withLock { guarded in
            let actions = guarded.state.handle(.needed(now: seconds()))
            _ = try perform(actions, &guarded)
            if let token = guarded.token { return token }
            return try sign(issuedAt: seconds(), &guarded)
        }
    }

    /// Replaces a token that APNs called expired, unless that happened already or would be too early.
    func rejected(generation: Int) throws -> Renewal {
        try guarded.withLock { guarded in
            let actions = guarded.state.handle(.rejected(generation: generation, now: seconds()))
            return try perform(actions, &guarded)
        }
    }

    private func perform(_ actions: [ProviderTokenState.Action], _ guarded: inout Guarded) throws -> Renewal {
        var renewal = Renewal.renewed
        for action in actions {
            switch action {
            case .sign(let issuedAt): _ = try sign(issuedAt: issuedAt, &guarded)
            case .keep(let seconds): renewal = .tooEarly(seconds: seconds)
            }
        }
        return renewal
    }

    private func sign(issuedAt: Int64, _ guarded: inout Guarded) throws -> AuthorizationToken {
        let text = try key.providerToken(issuedAt: issuedAt)
        _ = guarded.state.handle(.signed(issuedAt: issuedAt))
        let token = AuthorizationToken(generation: guarded.state.generation, authorization: "bearer " + text)
        guarded.token = token
        return token
    }

    private func seconds() -> Int64 {
        Int64(now().timeIntervalSince1970)
    }
}
