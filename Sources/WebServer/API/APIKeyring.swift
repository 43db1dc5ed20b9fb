import NIOCore
import PushCore
import Store
import Synchronization

/// Says what the key of a request may do.
///
/// A key that the database accepted is taken for ``keptFor`` without asking again: so long a revoked key goes on working at most. What
/// is no key costs the database nothing: its public id is none of those that there are, which are read again at most ten times a
/// second, however many ask; a wrong secret is remembered for as long as an accepted key is; and who invents secrets for an id that
/// there is has one comparison at a time for all such addresses. An address that goes on with such keys is told to wait, and a key
/// that holds is accepted from there nevertheless, its first time included: others may share the address.
final class APIKeyring: Sendable {
    /// How long an answer of the database holds.
    static let keptFor = Duration.seconds(5)
    /// Keys that are kept; more are asked about each time.
    private static let most = 1_000
    /// Refused keys of one address: a wrong setting is tried again and again, and 20 at once and one a second tell its owner enough.
    private static let refusalsPerSecond = 1
    private static let refusalBurst = 20
    /// Addresses whose refused keys are counted.
    private static let mostAddresses = 10_000
    /// Secrets that were never accepted and are compared by the database at once: one connection serves all keys.
    private static let mostUnproven = 4
    /// How many of these may be from addresses that have sent too many refused keys.
    private static let mostSuspect = 1

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
        /// Accepted ones by public id; one whose time is over is asked about again, before those that were never accepted.
        var accepted: [String: Entry] = [:]
        /// Refused keys by their hash.
        var refused: [[UInt8]: Refusal] = [:]
        var refusals = AddressRateLimit(
            perSecond: APIKeyring.refusalsPerSecond,
            burst: APIKeyring.refusalBurst,
            capacity: APIKeyring.mostAddresses
        )
        var unproven = 0
        var suspect = 0
    }

    private let state = Mutex(State())
    private let ids: RefreshedValue<Set<String>>
    private let database: APIDatabase
    /// Questions to the database about keys, for tests.
    private let asked = Atomic(0)

    init(database: APIDatabase) {
        self.database = database
        ids = RefreshedValue(
            [],
            read: {
                do {
                    return try await database.run { try await $0.apiKeyIDs() }
                } catch {
                    // Whatever it is, it cannot be told now whether there is such a key.
                    return nil
                }
            }
        )
    }

    /// Keys that the database was asked about.
    var questions: Int { asked.load(ordering: .relaxed) }

    /// The key of an `Authorization` header; throws what is wrong with it.
    ///
    /// - Parameter client: the address whose refused keys are counted; nil if none are.
    func verify(_ authorization: String?, from client: IPAddress?) async throws(APIProblem) -> VerifiedAPIKey {
        guard let authorization else { throw .missingKey }
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { throw .missingKey }
        guard let key = APIKey(String(words[1])) else { throw .refusedKey("it has not the form of a key") }
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
            // The digest of 256 random bits is looked up: how long that takes tells nothing of other keys.
            if let refusal = state.refused[hash], refusal.until > now { return .refused(refusal.cause) }
            return .unknown
        }
    }

    /// Compares a secret that was never accepted: if there is such a public id, and when it is its turn.
    private func compareFirst(
        _ publicID: String,
        _ hash: [UInt8],
        _ client: IPAddress?
    ) async throws(APIProblem) -> VerifiedAPIKey {
        if !ids.current.contains(publicID) {
            guard await ids.refresh() else { throw .unavailable("The database is away.") }
            guard ids.current.contains(publicID) else { throw refuse(hash, client, "there is no such key") }
        }
        let suspect = isSuspect(client) ? 1 : 0
        let enters = state.withLock { state in
            guard state.unproven < Self.mostUnproven, state.suspect + suspect <= Self.mostSuspect else { return false }
            state.unproven += 1
            state.suspect += suspect
            return true
        }
        guard enters else { throw .unavailable("Too many keys are being looked at.", retryAfter: 1) }
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
        // Counted from the question, since it may be revoked while the answer is under way.
        keep(publicID, Entry(hash: hash, key: verified, until: begun + Self.keptFor))
        return verified
    }

    private func isSuspect(_ client: IPAddress?) -> Bool {
        guard let client else { return false }
        return state.withLock { $0.refusals.isExhausted(client, seconds: Self.seconds) }
    }

    /// Remembers and counts a key that is refused; gives what its sender is told.
    private func refuse(_ hash: [UInt8], _ client: IPAddress?, _ cause: String, isNew: Bool = true) -> APIProblem {
        let now = ContinuousClock.now
        return state.withLock { state in
            if isNew {
                if state.refused.count >= Self.most { state.refused = state.refused.filter { $0.value.until > now } }
                if state.refused.count >= Self.most { state.refused = [:] }
                state.refused[hash] = Refusal(cause: cause, until: now + Self.keptFor)
            }
            let isFew = client.map { state.refusals.allow($0, seconds: Self.seconds) } ?? true
            return isFew ? .refusedKey(cause) : .tooManyRefusals
        }
    }

    private static var seconds: Double { Double(NIODeadline.now().uptimeNanoseconds) / 1e9 }

    private func keep(_ publicID: String, _ entry: Entry) {
        state.withLock { state in
            if state.accepted.count >= Self.most { state.accepted = state.accepted.filter { $0.value.until > .now } }
            if state.accepted.count < Self.most { state.accepted[publicID] = entry }
        }
    }
}
