import Content
import Foundation
import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization

/// Decides whether the user key of a registration is trusted, by the requirements of its service.
final class UserKeyProofs: Sendable {
    enum Result {
        /// The claim is set; with the reason if a required proof failed.
        case decided(UserKeyProof.Refusal?)
        /// It cannot be decided now, because a key cannot be opened or the database was never read.
        case unavailable
    }

    private struct Trust: Sendable {
        var services: [Int32: (service: Int32, trust: UserKeyTrust)] = [:]
        /// Keys by service and id; nil for a key that cannot be opened here.
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

    /// - Parameter keyring: reads the keys that seal the secrets.
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
                // Waiting for a connection here would continue after the last caller has given up.
                guard store.isConnected else { return nil }
                let read = try await store.registrationTrust()
                return Trust(services: read.services, keys: opened.keys(read.keys))
            },
            onFailure: { logger.failure("The database cannot be read", of: $0) }
        )
    }

    /// Reads the services' requirements and keys again.
    func refresh() async {
        _ = await trust.refresh()
    }

    /// The claim of an application's registrations if its service requires no proof; nil if it does, or is unknown.
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

    /// Sets the claim of a registration. If it has no user key, also sets the one that its proof names.
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
            // A device without a logged-in user needs no proof.
            guard !registration.userKey.isEmpty || token != nil else { return .decided(nil) }
            note(error)
            return .decided(error)
        }
    }

    /// The user that a token proves; nil if its key cannot be opened.
    private func user(_ token: String?, service: Int32) async throws(UserKeyProof.Refusal) -> String? {
        guard let token, !token.isEmpty else { throw .missing }
        let proof = try UserKeyProof(token)
        if trust.current.keys[service]?[proof.keyID] == nil {
            // The key may have just been created. An SDK never sends the same data again, so its device would stay
            // without a user.
            guard await trust.refresh() else { return nil }
        }
        guard let known = trust.current.keys[service]?[proof.keyID] else { throw .unknownKey }
        guard let key = known else {
            if let count = notices.withLock({ $0.unreadable.add(1) }) {
                logger.error(
                    "\(count) registrations were refused (503): the proof key \(proof.keyID) of their service cannot be opened. Set credentialKeyFile for this process to a file with the key that seals it."
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
            "\(count) registrations were stored without their user key because it is not proven; the last one's proof: \(refusal.rawValue)."
        )
    }
}

/// The proof keys, each opened once.
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

    /// The keys by service and id; nil for one that cannot be opened, which is tried again next time.
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
