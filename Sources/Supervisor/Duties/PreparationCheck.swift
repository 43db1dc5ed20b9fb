import PushCore
import Store

/// What can be said against a delivery before anything of it is made, from its content, applications and accounts alone.
enum PreparationCheck {
    /// Why the delivery cannot be sent, for the operator to read; nil if nothing speaks against it.
    static func problem(with job: PreparationJob) -> String? {
        if job.applications.isEmpty {
            return "The delivery has no application to send to. Give it at least one application of its service."
        }
        let content: PushContent
        do {
            content = try PushContent(json: job.content)
        } catch {
            return "The content cannot be used: \(error)"
        }
        // One without a credential must not keep the others waiting: its own messages wait, and its state says why.
        if job.applications.allSatisfy({ $0.credentialID == nil }) {
            return "Application '\(job.applications[0].name)': it has no credential for its gateway. "
                + "Set one with 'pushmta credential set'."
        }
        for (application, account) in zip(job.applications, job.accounts) {
            if let problem = problem(content, job.deliveryID, application, account) {
                return "Application '\(application.name)': \(problem)"
            }
        }
        return nil
    }

    private static func problem(
        _ content: PushContent,
        _ deliveryID: Int64,
        _ application: ApplicationRow,
        _ account: AccountRow
    ) -> String? {
        guard account.connector.platform == application.platform else {
            return "its external account '\(account.name)' speaks \(account.connector.rawValue), which does not serve "
                + "\(application.platform.rawValue). Choose another account for the application or the delivery."
        }
        do {
            let template = try PayloadTemplate.compile(
                content: content,
                platform: application.platform,
                deliveryID: deliveryID,
                messageIDFormat: application.messageIDFormat
            )
            let limit = template.payloadLimit(connector: account.connector)
            guard template.minimumPayloadSize > limit else { return nil }
            return PayloadLimits.tooLongReason(limit: limit)
        } catch {
            return "the content cannot be used: \(error)"
        }
    }
}
