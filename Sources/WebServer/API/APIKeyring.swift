import PushCore
import Store
import Synchronization

/// Says what the key of a request may do.
///
/// A key that the database accepted is taken for ``keptFor`` without asking again: so long a revoked key goes on working at most.
/// One that was refused is asked about each time.
final class APIKeyring: Sendable {
    /// How long an answer of the database holds.
    static let keptFor = Duration.seconds(5)
    /// Keys that are kept; more are asked about each time.
    private static let most = 1_000

    private struct Entry {
        let hash: [UInt8]
        let key: VerifiedAPIKey
        let until: ContinuousClock.Instant
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let database: APIDatabase

    init(database: APIDatabase) {
        self.database = database
    }

    /// The key of an `Authorization` header; throws what is wrong with it.
    func verify(_ authorization: String?) async throws(APIProblem) -> VerifiedAPIKey {
        guard let authorization else { throw .missingKey }
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { throw .missingKey }
        guard let key = APIKey(String(words[1])) else { throw .refusedKey("it has not the form of a key") }
        let hash = key.hash
        if let kept = kept(key.publicID, hash) { return kept }
        let asked = ContinuousClock.now
        let publicID = key.publicID
        guard let verified = try await database.run({ try await $0.verifyAPIKey(publicID: publicID, hash: hash) })
        else {
            throw .refusedKey("there is no such key")
        }
        guard verified.problem.isEmpty else { throw .refusedKey("it is \(verified.problem)") }
        // Counted from the question, since it may be revoked while the answer is under way.
        keep(publicID, Entry(hash: hash, key: verified, until: asked + Self.keptFor))
        return verified
    }

    private func kept(_ publicID: String, _ hash: [UInt8]) -> VerifiedAPIKey? {
        entries.withLock { entries in
            guard let entry = entries[publicID] else { return nil }
            guard entry.until > .now else {
                entries[publicID] = nil
                return nil
            }
            return APIKey.isSame(entry.hash, hash) ? entry.key : nil
        }
    }

    private func keep(_ publicID: String, _ entry: Entry) {
        entries.withLock { entries in
            if entries.count >= Self.most { entries = entries.filter { $0.value.until > .now } }
            if entries.count < Self.most { entries[publicID] = entry }
        }
    }
}
