import Content
import Foundation
import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization

/// Says what the user key of a registration is worth, by what its service asks for.
final class UserKeyProofs: Sendable {
    enum Result {
        /// The claim is set; why it is not proven, if its service asks for a proof.
        case decided(UserKeyProof.Refusal?)
        /// It cannot be found out now: a key cannot be opened, or the database was never read.
        case unavailable
    }

    private struct Trust: Sendable {
        var services: [Int32: (service: Int32, trust: UserKeyTrust)] = [:]
        /// By service and id; nil for a key that cannot be opened here.
        var keys: [Int32: [String: UserKeyProofKey?]] = [:]
    }

    private struct Notices {
        var unproven = NoticePace()
        var unreadable = NoticePace()
    }

    private let trust: RefreshedValue<Trust>
    private let counters: WebCounters
    private let logger: Logger
    private let notices = Mutex(Notices())

    /// - Parameter keyring: reads the keys that secrets are sealed with.
    init(
        store: Store,
        keyring: @escaping @Sendable () throws -> CredentialKeyring,
        counters: WebCounters,
        logger: Logger
    ) {
        self.counters = counters
        self.logger = logger
        let opened = OpenedKeys(keyring: keyring, logger: logger)
        trust = RefreshedValue(
            Trust(),
            read: {
                // Who waits for a connection would go on waiting when nobody waits for him any more.
                guard store.isConnected else { return nil }
                let read = try await store.registrationTrust()
                return Trust(services: read.services, keys: opened.keys(read.keys))
            },
            onFailure: { logger.failure("The database cannot be read", of: $0) }
        )
    }

    /// Reads what services ask for, and their keys.
    func refresh() async {
        _ = await trust.refresh()
    }

    /// The claim of the registrations of an application whose service asks for no proof; nil if it asks for one, or is not known here.
    func plainClaim(application: Int32) -> UserKeyClaim? {
        trust.current.services[application].flatMap { Self.plainClaim($0.trust) }
    }

    private static func plainClaim(_ trust: UserKeyTrust) -> UserKeyClaim? {
        switch trust {
        case .open: .open
        case .server: .server
        case .signed: nil
        }
    }

    /// Sets the claim of a registration, and the user key that its proof names if it names none itself.
    func claim(
        _ token: String?,
        application: Int32,
        _ registration: inout PlacedRegistration
    ) async -> Result {
        if trust.current.services[application] == nil {
            guard await trust.refresh() else { return .unavailable }
        }
        guard let (service, wanted) = trust.current.services[application] else { return .unavailable }
        if let claim = Self.plainClaim(wanted) {
            registration.claim = claim
            return .decided(nil)
        }
        do throws(UserKeyProof.Refusal) {
            guard let user = try await user(token, service: service) else { return .unavailable }
            if registration.userKey.isEmpty { registration.userKey = user }
            guard registration.userKey == user else { throw UserKeyProof.Refusal.otherUser }
            registration.claim = .proven
            return .decided(nil)
        } catch {
            registration.claim = .unproven
            // A device of which nobody is logged in needs no proof.
            guard !registration.userKey.isEmpty || token != nil else { return .decided(nil) }
            note(error)
            return .decided(error)
        }
    }

    /// The user whom a token proves; nil if its key cannot be opened.
    private func user(_ token: String?, service: Int32) async throws(UserKeyProof.Refusal) -> String? {
        guard let token, !token.isEmpty else { throw .missing }
        let proof = try UserKeyProof(token)
        if trust.current.keys[service]?[proof.keyID] == nil {
            // It may have been made just now. An SDK never sends the same data again, so its device would stay without user.
            guard await trust.refresh() else { return nil }
        }
        guard let known = trust.current.keys[service]?[proof.keyID] else { throw .unknownKey }
        guard let key = known else {
            if let count = notices.withLock({ $0.unreadable.add(1) }) {
                logger.error(
                    "\(count) registrations were refused (503): the proof key \(proof.keyID) of their service cannot be opened. This process needs the setting credentialKeyFile with the key that it is sealed under."
                )
            }
            return nil
        }
        return try proof.userKey(key, now: Date().timeIntervalSince1970)
    }

    private func note(_ refusal: UserKeyProof.Refusal) {
        counters.add { $0.unproven += 1 }
        guard let count = notices.withLock({ $0.unproven.add(1) }) else { return }
        logger.warning(
            "\(count) registrations are stored without their user key, as it is not proven; of the last one's proof: \(refusal.rawValue)."
        )
    }
}

/// The keys of proofs, each opened once.
private final class OpenedKeys: Sendable {
    private struct Entry {
        let row: ProofKeyRow
        let key: UserKeyProofKey
    }

    private let keyring: @Sendable () throws -> CredentialKeyring
    private let logger: Logger
    private let entries = Mutex<[Int64: Entry]>([:])

    init(keyring: @escaping @Sendable () throws -> CredentialKeyring, logger: Logger) {
        self.keyring = keyring
        self.logger = logger
    }

    /// The keys by service and id; nil for one that cannot be opened, which is tried again the next time.
    func keys(_ rows: [ProofKeyRow]) -> [Int32: [String: UserKeyProofKey?]] {
        entries.withLock { entries in
            var kept: [Int64: Entry] = [:]
            var keys: [Int32: [String: UserKeyProofKey?]] = [:]
            for row in rows {
                let entry = entries[row.id].flatMap { $0.row == row ? $0 : nil } ?? open(row)
                kept[row.id] = entry
                keys[row.serviceID, default: [:]].updateValue(entry?.key, forKey: row.keyID)
            }
            entries = kept
            return keys
        }
    }

    private func open(_ row: ProofKeyRow) -> Entry? {
        do {
            let bytes: [UInt8]
            if let sealed = row.sealed, let sealKeyID = row.sealKeyID {
                bytes = try keyring().open(sealed, keyID: sealKeyID, credentialID: row.id)
            } else {
                bytes = row.publicKey ?? []
            }
            return UserKeyProofKey(id: row.keyID, algorithm: row.algorithm, bytes: bytes).map {
                Entry(row: row, key: $0)
            }
        } catch {
            logger.debug("The proof key \(row.keyID) cannot be opened: \(error)")
            return nil
        }
    }
}
