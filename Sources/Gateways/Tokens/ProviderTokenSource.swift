import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The one provider token of an APNs key in this process, shared by all connections that use the key.
package final class ProviderTokenSource: Sendable {
    /// What happened to a token that APNs reported as expired.
    enum Renewal: Sendable, Equatable {
        /// The current token is newer.
        case renewed
        /// The token is too young to be replaced for this many seconds.
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
    /// - Parameter now: the time for `iat`, from the database's clock: a host with a wrong clock must not make tokens
    ///   that Apple refuses.
    package init(key: APNsTokenKey, now: @escaping @Sendable () -> Date) {
        self.key = key
        self.now = now
    }

    /// The token to send with; a new one once the last is 50 minutes old.
    func current() throws -> AuthorizationToken {
        try guarded.withLock { guarded in
            let actions = guarded.state.handle(.needed(now: seconds()))
            _ = try perform(actions, &guarded)
            if let token = guarded.token { return token }
            return try sign(issuedAt: seconds(), &guarded)
        }
    }

    /// Replaces a token that APNs reported as expired, unless it was replaced already or is too young.
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

/// The provider token sources of a process, one for each key.
final class ProviderTokenSources: Sendable {
    private let now: @Sendable () -> Date
    private let sources = Mutex<[ProviderTokenIdentity: ProviderTokenSource]>([:])

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// The key's source, made on the first call.
    func source(of key: APNsTokenKey) -> ProviderTokenSource {
        sources.withLock { sources in
            if let known = sources[key.identity] { return known }
            let source = ProviderTokenSource(key: key, now: now)
            sources[key.identity] = source
            return source
        }
    }
}

/// When an APNs key needs a new token.
///
/// Apple accepts a token for an hour and wants it renewed at most every 20 minutes ("Establishing a token-based
/// connection to APNs"). Other providers renew at 50 minutes too.
struct ProviderTokenState: Sendable {
    /// The state's events. Times are seconds since 1970 on the database's clock.
    enum Event: Sendable {
        /// A message is about to be sent.
        case needed(now: Int64)
        /// APNs reported the token of this generation as expired.
        case rejected(generation: Int, now: Int64)
        case signed(issuedAt: Int64)
    }

    /// What to do.
    enum Action: Sendable, Equatable {
        /// Sign a new token with this time of issue.
        case sign(issuedAt: Int64)
        /// The rejected token may not be replaced for this many seconds: it is younger than Apple allows.
        case keep(seconds: Int64)
    }

    /// Age at which a token is replaced, in seconds.
    static let renewalAge: Int64 = 50 * 60
    /// Age below which a token is never replaced, in seconds.
    static let minimumAge: Int64 = 20 * 60

    /// The current token's generation; 0 if there is none yet.
    private(set) var generation = 0
    private var issuedAt: Int64 = 0

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .needed(let now):
            return isDue(at: now) ? [.sign(issuedAt: now)] : []
        case .rejected(let rejected, let now):
            guard rejected == generation, generation > 0 else { return [] }
            let age = abs(now - issuedAt)
            return age >= Self.minimumAge ? [.sign(issuedAt: now)] : [.keep(seconds: Self.minimumAge - age)]
        case .signed(let issued):
            generation += 1
            issuedAt = issued
            return []
        }
    }

    private func isDue(at now: Int64) -> Bool {
        // A clock that stepped back leaves a token from the future, which APNs refuses; small steps are tolerated.
        generation == 0 || now - issuedAt >= Self.renewalAge || issuedAt - now >= Self.minimumAge
    }
}

/// What makes two APNs keys the same key.
struct ProviderTokenIdentity: Sendable, Hashable {
    var keyID: String
    var teamID: String
    var publicKey: [UInt8]
}
