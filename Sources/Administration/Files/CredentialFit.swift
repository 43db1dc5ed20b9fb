import Gateways
import PushCore
import Store

/// Checks that an application's credential works with an external account. With an unfit one, every delivery fails at
/// its start.
package enum CredentialFit {
    /// Checks one application's credential against its account.
    ///
    /// - Parameter application: its name, for the error.
    package static func require(_ kind: CredentialKind, _ account: AccountRow, application: String) throws {
        guard !kind.suits(account.connector) else { return }
        throw CommandFailure(
            .data,
            "External account \(account.name) is of connector \(account.connector.rawValue), which needs \(CredentialChoice.wanted(account.connector)), and application \(application) has \(kind.text): give it another credential, or choose another account."
        )
    }

    /// Checks the applications whose deliveries use an account, before its connector is changed.
    package static func require(_ connector: Connector, of account: AccountRow, _ store: Store) async throws {
        guard connector != account.connector else { return }
        let credentials = try await store.credentials()
        let unfit = try await store.applications().filter { application in
            guard application.accountID == account.id, let id = application.credentialID else { return false }
            return credentials.first { $0.id == id }.map { !$0.kind.suits(connector) } ?? false
        }
        guard !unfit.isEmpty else { return }
        let names = unfit.map(\.name).joined(separator: ", ")
        throw CommandFailure(
            .data,
            "Connector \(connector.rawValue) needs \(CredentialChoice.wanted(connector)), which these applications of external account \(account.name) do not have: \(names). Set their credential first (pushmta credential set), or give them another account (pushmta app set --account)."
        )
    }
}
