import Gateways
import PushCore
import Store

/// Whether the credentials of applications can be used over an external account: otherwise every delivery fails at its start.
enum CredentialFit {
    /// Checks one application's credential against its account.
    ///
    /// - Parameter application: its name, which the error says.
    static func require(_ kind: CredentialRow.Kind, _ account: AccountRow, application: String) throws {
        guard !kind.suits(account.connector) else { return }
        throw CommandFailure(
            .data,
            "External account \(account.name) is of connector \(account.connector.rawValue), which needs \(CredentialChoice.wanted(account.connector)), and application \(application) has \(kind.text): give it another credential, or choose another account."
        )
    }

    /// Checks the applications whose deliveries go over an account, before its connector is changed.
    static func require(_ connector: Connector, of account: AccountRow, _ store: Store) async throws {
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
