import Content
import PushCore
import Store

/// Checks a delivery before it is prepared, from its content, applications and accounts alone.
package enum PreparationCheck {
    /// Why the delivery cannot be sent, one problem per line, for the operator; nil if nothing prevents it.
    package static func problem(with job: PreparationJob) -> String? {
        let found = problems(with: job)
        return found.isEmpty ? nil : found.joined(separator: "\n")
    }

    /// All problems at once, so that they can be corrected together.
    private static func problems(with job: PreparationJob) -> [String] {
        if job.applications.isEmpty {
            return ["The delivery has no application to send to. Give it at least one application of its service."]
        }
        do {
            _ = try PushContent(json: job.content)
        } catch {
            return ["The content cannot be used: \(error)"]
        }
        var problems: [String] = []
        // An application without a credential must not hold up the others: only its own messages wait, and its state
        // says why.
        if job.applications.allSatisfy({ $0.credentialID == nil }) {
            problems.append(
                "Application '\(job.applications[0].name)': it has no credential for its gateway. "
                    + "Set one with 'pushmta credential set'."
            )
        }
        let credentials = job.credentials + Array(repeating: nil, count: job.applications.count)
        for ((application, account), credential) in zip(zip(job.applications, job.accounts), credentials) {
            let found = [
                problem(credential, application, account),
                problem(job.content, job.deliveryID, application, account, credential),
            ]
            problems += found.compactMap { $0 }.map { "Application '\(application.name)': \($0)" }
        }
        return problems
    }

    /// A warning about content that is probably a mistake, for the log; nil if there is none.
    package static func warning(of job: PreparationJob) -> String? {
        guard let warnings = try? PushContent(json: job.content).warnings, let first = warnings.first else {
            return nil
        }
        let others = warnings.count > 1 ? " (and \(warnings.count - 1) more)" : ""
        return "Delivery \(job.deliveryID) is sent with \(first)\(others)."
    }

    /// The problem with a credential that is known before a gateway refuses it; nil if there is none.
    private static func problem(
        _ credential: CredentialNotice?,
        _ application: ApplicationRow,
        _ account: AccountRow
    ) -> String? {
        // The check below reports an account that does not fit the application.
        guard let credential, account.connector.platform == application.platform else { return nil }
        guard credential.kind.suits(account.connector) else {
            return
                "its credential is \(credential.kind.text), which connector \(account.connector.rawValue) of external "
                + "account '\(account.name)' does not accept. Set another one with 'pushmta credential set', or choose "
                + "another account."
        }
        if let problem = RouteCheck.problem(application, credential) { return "\(problem)." }
        guard let left = credential.secondsLeft, left <= 0 else { return nil }
        return "its credential \(ExpiryNotice.text(secondsLeft: left)). Set a new one with 'pushmta credential set'."
    }

    private static func problem(
        _ content: String,
        _ deliveryID: Int64,
        _ application: ApplicationRow,
        _ account: AccountRow,
        _ credential: CredentialNotice?
    ) -> String? {
        guard account.connector.platform == application.platform else {
            return "its external account '\(account.name)' speaks \(account.connector.rawValue), which does not serve "
                + "\(application.platform.rawValue). Choose another account for the application or the delivery."
        }
        if let problem = RouteCheck.problem(application, account, nil) { return "\(problem)." }
        let unknown = application.problems(content: content)
        guard unknown.isEmpty else { return "the content cannot be used: \(ContentError(problems: unknown))" }
        do {
            // Compiles it for all of its locales and checks the gateway's size limit.
            let template = try LocalisedTemplate.compile(
                content: PushContent(json: application.completed(content: content)),
                format: PayloadFormat(connector: account.connector, credential: credential?.kind),
                deliveryID: deliveryID,
                messageIDFormat: application.messageIDFormat
            )
            let refused = RouteCheck.problems(application, credential, template)
            return refused.isEmpty ? nil : "the content cannot be sent: \(ContentError(problems: refused))"
        } catch {
            return "the content cannot be used: \(error)"
        }
    }
}
