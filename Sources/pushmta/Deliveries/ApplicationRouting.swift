import Administration
import Content
import Foundation
import PushCore
import Store

/// The route of an application's messages, as far as payloads depend on it.
struct ApplicationRouting {
    let account: AccountRow
    /// The kind of the application's credential; nil if it has none.
    let credential: CredentialKind?
    /// Google's name of the project, which is part of the address of FCM HTTP v1; nil if no credential names it.
    let projectID: String?

    /// The format of the payloads; without a credential, that of the connector's current protocol.
    var format: PayloadFormat { PayloadFormat(connector: account.connector, credential: credential) }

    /// The route over the application's own account.
    ///
    /// - Throws: `CommandFailure` if it has none.
    init(_ application: ApplicationRow, _ store: Store) async throws {
        guard let id = application.accountID else {
            throw CommandFailure(
                .data,
                "Application \(application.name) has no external account, which determines the format of its payloads: "
                    + "`pushmta account list` lists them, `pushmta app set \(application.name) --account NAME` sets one."
            )
        }
        try await self.init(application, account: try await store.account(id), store)
    }

    /// The route over an account.
    init(_ application: ApplicationRow, account: AccountRow, _ store: Store) async throws {
        self.account = account
        guard application.credentialID != nil else {
            credential = nil
            projectID = nil
            return
        }
        let row = try await store.credential(application: application.id)
        credential = row.kind
        let attributes = try? JSONSerialization.jsonObject(with: Data(row.attributes.utf8)) as? [String: Any]
        projectID = attributes?["project_id"] as? String
    }
}
