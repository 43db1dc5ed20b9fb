import Content
import PushCore
import Store

/// Checks a delivery before it is prepared, from its content, applications and accounts alone.
package enum PreparationCheck {
    /// Why the delivery cannot be sent, one problem per line, for the operator; nil if nothing prevents it.
    package static func problem(with job: PreparationJob) -> String? {
        let found = findings(with: job)
        return found.isEmpty ? nil : found.map(\.text).joined(separator: "\n")
    }

    /// The same as a list.
    package static func problems(with job: PreparationJob) -> [DeliveryProblem] {
        findings(with: job).flatMap(\.problems)
    }

    /// What one application, or the whole delivery, lacks.
    private struct Finding {
        let text: String
        let problems: [DeliveryProblem]

        /// A problem of an application, its account or its credential. Its last sentence is the remedy.
        init(_ text: String) {
            self.text = text
            let sentences = text.split(separator: ". ")
            let (cause, remedy) = (sentences.dropLast().joined(separator: ". "), sentences.last.map(String.init) ?? "")
            problems = [
                DeliveryProblem(
                    subject: "application",
                    pointer: "",
                    problem: cause.isEmpty ? text : cause,
                    remedy: cause.isEmpty ? "correct it" : remedy
                )
            ]
        }

        /// A problem of the content.
        init(_ text: String, _ error: any Error) {
            self.text = text
            let known = (error as? ContentError)?.problems
            let all = known ?? [ContentProblem(key: "", cause: "\(error)", remedy: "correct the content")]
            problems = all.map {
                DeliveryProblem(subject: "content", pointer: $0.pointer, problem: $0.cause, remedy: $0.remedy)
            }
        }

        /// The same of an application, or of a variant.
        private init(_ finding: Finding, ofThe thing: String, _ name: String) {
            text = "\(thing.prefix(1).uppercased())\(thing.dropFirst()) '\(name)': \(finding.text)"
            problems = finding.problems.map {
                DeliveryProblem(
                    subject: $0.subject,
                    pointer: $0.pointer,
                    problem: "\(thing) '\(name)': \($0.problem)",
                    remedy: $0.remedy
                )
            }
        }

        func of(_ application: ApplicationRow) -> Finding { Finding(self, ofThe: "application", application.name) }

        func of(_ variant: PreparationJob.Variant?) -> Finding {
            variant.map { Finding(self, ofThe: "variant", $0.label) } ?? self
        }
    }

    /// The contents to check, each once: the delivery's own, and those of its variants.
    private static func contents(of job: PreparationJob) -> [(json: String, variant: PreparationJob.Variant?)] {
        var contents: [(json: String, variant: PreparationJob.Variant?)] = [(job.content, nil)]
        for variant in job.variants where variant.content != job.content {
            contents.append((variant.content, variant))
        }
        return contents
    }

    /// All problems at once, so that they can be corrected together.
    private static func findings(with job: PreparationJob) -> [Finding] {
        if job.applications.isEmpty {
            return [
                Finding("The delivery has no application to send to. Give it at least one application of its service.")
            ]
        }
        let contents = contents(of: job)
        for content in contents {
            do {
                _ = try PushContent(json: content.json)
            } catch {
                return [Finding("The content cannot be used: \(error)", error).of(content.variant)]
            }
        }
        var problems: [Finding] = []
        // An application without a credential must not hold up the others: only its own messages wait, and its state
        // says why.
        if job.applications.allSatisfy({ $0.credentialID == nil }) {
            problems.append(
                Finding("it has no credential for its gateway. Set one with 'pushmta credential set'.")
                    .of(job.applications[0])
            )
        }
        let credentials = job.credentials + Array(repeating: nil, count: job.applications.count)
        for ((application, account), credential) in zip(zip(job.applications, job.accounts), credentials) {
            let found =
                [problem(credential, application, account)]
                + contents.map {
                    problem($0.json, job.deliveryID, application, account, credential)?.of($0.variant)
                }
            if !job.variants.isEmpty, application.messageIDFormat == .int32 {
                problems.append(
                    Finding(
                        "it has int32 message ids, which have no room for the variants of an experiment. Leave it out, or "
                            + "let it use uuid message ids."
                    ).of(application)
                )
            }
            problems += found.compactMap { $0?.of(application) }
        }
        return problems
    }

    /// A warning about content that is probably a mistake, for the log; nil if there is none.
    package static func warning(of job: PreparationJob) -> String? {
        let warnings = contents(of: job).flatMap { (try? PushContent(json: $0.json).warnings) ?? [] }
        guard let first = warnings.first else { return nil }
        let others = warnings.count > 1 ? " (and \(warnings.count - 1) more)" : ""
        return "Delivery \(job.deliveryID) is sent with \(first)\(others)."
    }

    /// The problem with a credential that is known before a gateway refuses it; nil if there is none.
    private static func problem(
        _ credential: CredentialNotice?,
        _ application: ApplicationRow,
        _ account: AccountRow
    ) -> Finding? {
        // The check below reports an account that does not fit the application.
        guard let credential, account.connector.platform == application.platform else { return nil }
        guard credential.kind.suits(account.connector) else {
            return Finding(
                "its credential is \(credential.kind.text), which connector \(account.connector.rawValue) of external "
                    + "account '\(account.name)' does not accept. Set another one with 'pushmta credential set', or "
                    + "choose another account."
            )
        }
        if let problem = RouteCheck.problem(application, credential) { return Finding("\(problem).") }
        guard let left = credential.secondsLeft, left <= 0 else { return nil }
        return Finding(
            "its credential \(ExpiryNotice.text(secondsLeft: left)). Set a new one with 'pushmta credential set'."
        )
    }

    private static func problem(
        _ content: String,
        _ deliveryID: Int64,
        _ application: ApplicationRow,
        _ account: AccountRow,
        _ credential: CredentialNotice?
    ) -> Finding? {
        guard account.connector.platform == application.platform else {
            return Finding(
                "its external account '\(account.name)' speaks \(account.connector.rawValue), which does not serve "
                    + "\(application.platform.rawValue). Choose another account for the application or the delivery."
            )
        }
        if let problem = RouteCheck.problem(application, account, nil) { return Finding("\(problem).") }
        let unknown = application.problems(content: content)
        guard unknown.isEmpty else {
            let error = ContentError(problems: unknown)
            return Finding("the content cannot be used: \(error)", error)
        }
        do {
            // Compiles it for all of its locales and checks the gateway's size limit.
            let template = try LocalisedTemplate.compile(
                content: PushContent(json: application.completed(content: content)),
                format: PayloadFormat(connector: account.connector, credential: credential?.kind),
                deliveryID: deliveryID,
                messageIDFormat: application.messageIDFormat
            )
            let refused = RouteCheck.problems(application, credential, template)
            let error = ContentError(problems: refused)
            return refused.isEmpty ? nil : Finding("the content cannot be sent: \(error)", error)
        } catch {
            return Finding("the content cannot be used: \(error)", error)
        }
    }
}
