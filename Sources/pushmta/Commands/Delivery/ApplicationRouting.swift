import Foundation
import PushCore
import Store

/// The way of an application's messages, as far as what goes out depends on it.
struct ApplicationRouting {
    /// The external account.
    let account: AccountRow
    /// The form of the payloads; without a credential that of the connector's present protocol.
    let format: PayloadFormat
    /// Google's name of the project, which stands in the address of FCM HTTP v1; nil if no credential says it.
    let projectID: String?

    /// The way over the application's own account.
    ///
    /// - Throws: `CommandFailure` if it has none.
    init(_ application: ApplicationRow, _ store: Store) async throws {
        guard let id = application.accountID else {
            throw CommandFailure(
                .data,
                "Application \(application.name) has no external account, which decides the form of its payloads: "
                    + "`pushmta account list` shows them, `pushmta app set \(application.name) --account NAME` names one."
            )
        }
        try await self.init(application, account: try await store.account(id), store)
    }

    /// The way over an account.
    init(_ application: ApplicationRow, account: AccountRow, _ store: Store) async throws {
        self.account = account
        guard application.credentialID != nil else {
            format = PayloadFormat(connector: account.connector)
            projectID = nil
            return
        }
        let credential = try await store.credential(application: application.id)
        format = PayloadFormat(connector: account.connector, usesProjectKey: credential.kind == .fcmProjectKey)
        let attributes = try? JSONSerialization.jsonObject(with: Data(credential.attributes.utf8)) as? [String: Any]
        projectID = attributes?["project_id"] as? String
    }
}
