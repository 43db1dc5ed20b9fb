import NIOCore
import PushCore
import Store
import Synchronization

/// Verifies API keys and caches the results.
///
/// A key that the database accepted is valid for ``keptFor`` without another query, so a revoked key works for at most
/// that long.
///
/// Invalid keys cost the database next to nothing. An unknown public id is found in the cached list of ids, which is
/// read again at most ten times a second for all callers together. A wrong secret is cached as long as an accepted key.
/// Guessed secrets for an existing id are compared one at a time for all such addresses. An address that keeps sending
/// such keys is told to wait. A valid key is still accepted from that address, even for the first time, because other
/// clients may share it.
final class APIKeyring: Sendable {
    /// How long a result of the database is valid.
    static let keptFor = Duration.seconds(5)
    /// The maximum number of cached keys; further ones are verified each time.
    private static let maxKeys = 1_000
    /// The limit of refused keys from one address. A client with a wrong setting keeps trying: 20 at once and one a
    /// second are enough to show its owner.
    private static let refusalsPerSecond = 1
    private static let refusalBurst = 20
    /// The maximum number of addresses whose refused keys are counted.
    private static let maxAddresses = 10_000
    /// The maximum number of concurrent comparisons of secrets that were never accepted; one connection serves all
    /// keys.
    private static let maxUnproven = 4
    /// How many of these may come from addresses that have sent too many refused keys.
    private static let maxSuspect = 1

    private struct Entry {
        let hash: [UInt8]
        let key: VerifiedAPIKey
        let until: ContinuousClock.Instant
    }

    private struct Refusal {
        let cause: String
        let until: ContinuousClock.Instant
    }

    private struct State {
        /// Accepted keys by public id. An expired one is verified again, with precedence over secrets that were never
        /// accepted.
        var accepted: [String: Entry] = [:]
        /// Refused keys by hash.
        var refused: [[UInt8]: Refusal] = [:]
        var refusals = AddressRateLimit(
            perSecond: APIKeyring.refusalsPerSecond,
            burst: APIKeyring.refusalBurst,
            capacity: APIKeyring.maxAddresses
        )
        var unproven = 0
        var suspect = 0
    }

    private let state = Mutex(State())
    private let ids: RefreshedValue<Set<String>>
    private let database: APIDatabase
    /// The number of queries to the database about keys, for tests.
    private let asked = Atomic(0)

    init(database: APIDatabase) {
        self.database = database
        ids = RefreshedValue(
            [],
            read: {
                do {
                    return try await database.run { try await $0.apiKeyIDs() }
                } catch {
                    // Whatever the cause, it is unknown now whether the key exists.
                    return nil
                }
            }
        )
    }

    /// The number of keys verified by the database.
    var questions: Int { asked.load(ordering: .relaxed) }

    /// The key in an `Authorization` header; throws the reason if it is not accepted.
    ///
    /// - Parameter client: the address whose refused keys are counted; nil for no counting.
    func verify(_ authorization: String?, from client: IPAddress?) async throws(APIProblem) -> VerifiedAPIKey {
        guard let authorization else { throw .missingKey }
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { throw .missingKey }
        guard let key = APIKey(String(words[1])) else { throw .refusedKey("it is not in the form of a key") }
        let hash = key.hash
        switch known(key.publicID, hash) {
        case .accepted(let kept): return kept
        case .refused(let cause): throw refuse(hash, client, cause, isNew: false)
        case .wasAccepted: return try await compare(key.publicID, hash, client)
        case .unknown: return try await compareFirst(key.publicID, hash, client)
        }
    }

    private enum Known {
        case accepted(VerifiedAPIKey)
        case refused(String)
        case wasAccepted
        case unknown
    }

    private func known(_ publicID: String, _ hash: [UInt8]) -> Known {
        let now = ContinuousClock.now
        return state.withLock { state in
            if let entry = state.accepted[publicID], APIKey.isSame(entry.hash, hash) {
                return entry.until > now ? .accepted(entry.key) : .wasAccepted
            }
            // The lookup is by the digest of 256 random bits, so its duration reveals nothing about other keys.
            if let refusal = state.refused[hash], refusal.until > now { return .refused(refusal.cause) }
            return .unknown
        }
    }

    /// Verifies a secret that was never accepted, if its public id exists and the limits allow it.
    private func compareFirst(
        _ publicID: String,
        _ hash: [UInt8],
        _ client: IPAddress?
    ) async throws(APIProblem) -> VerifiedAPIKey {
        if !ids.current.contains(publicID) {
            guard await ids.refresh() else { throw .unavailable("The database is unreachable.") }
            guard ids.current.contains(publicID) else { throw refuse(hash, client, "there is no such key") }
        }
        let suspect = isSuspect(client) ? 1 : 0
        let enters = state.withLock { state in
            guard state.unproven < Self.maxUnproven, state.suspect + suspect <= Self.maxSuspect else { return false }
            state.unproven += 1
            state.suspect += suspect
            return true
        }
        guard enters else { throw .unavailable("Too many keys are being verified.", retryAfter: 1) }
        defer {
            state.withLock { state in
                state.unproven -= 1
                state.suspect -= suspect
            }
        }
        return try await compare(publicID, hash, client)
    }

    private func compare(
        _ publicID: String,
        _ hash: [UInt8],
        _ client: IPAddress?
    ) async throws(APIProblem) -> VerifiedAPIKey {
        let begun = ContinuousClock.now
        asked.add(1, ordering: .relaxed)
        let verified = try await database.run { try await $0.verifyAPIKey(publicID: publicID, hash: hash) }
        guard let verified else { throw refuse(hash, client, "there is no such key") }
        guard verified.problem.isEmpty else {
            state.withLock { $0.accepted[publicID] = nil }
            throw refuse(hash, client, "it is \(verified.problem)")
        }
        // Counted from the query, because the key may be revoked before its result arrives.
        keep(publicID, Entry(hash: hash, key: verified, until: begun + Self.keptFor))
        return verified
    }

    private func isSuspect(_ client: IPAddress?) -> Bool {
        guard let client else { return false }
        return state.withLock { $0.refusals.isExhausted(client, seconds: Self.seconds) }
    }

    /// Caches and counts a refused key; returns the problem to report.
    private func refuse(_ hash: [UInt8], _ client: IPAddress?, _ cause: String, isNew: Bool = true) -> APIProblem {
        let now = ContinuousClock.now
        return state.withLock { state in
            if isNew {
                if state.refused.count >= Self.maxKeys { state.refused = state.refused.filter { $0.value.until > now } }
                if state.refused.count >= Self.maxKeys { state.refused = [:] }
                state.refused[hash] = Refusal(cause: cause, until: now + Self.keptFor)
            }
            let isFew = client.map { state.refusals.allow($0, seconds: Self.seconds) } ?? true
            return isFew ? .refusedKey(cause) : .tooManyRefusals
        }
    }

    private static var seconds: Double { Double(NIODeadline.now().uptimeNanoseconds) / 1e9 }

    private func keep(_ publicID: String, _ entry: Entry) {
        state.withLock { state in
            if state.accepted.count >= Self.maxKeys { state.accepted = state.accepted.filter { $0.value.until > .now } }
            if state.accepted.count < Self.maxKeys { state.accepted[publicID] = entry }
        }
    }
}
