import Content
import PushCore

/// Finds faults in an application's route to its gateway that would make the gateway refuse each message.
package enum RouteCheck {
    /// Why the application's messages cannot be sent over the account, with the remedy; nil if they can.
    ///
    /// `CredentialKind.suits` checks whether the connector accepts the kind of credential.
    package static func problem(_ application: ApplicationRow, _ account: AccountRow) -> String? {
        problem(application.platform, application.environment, account)
    }

    /// The same for an application that does not exist yet.
    static func problem(_ platform: Platform, _ own: ApplicationEnvironment, _ account: AccountRow) -> String? {
        guard platform == .ios, let environment = ApplicationEnvironment(gatewayHost: account.host), environment != own
        else { return nil }
        return
            "it is of the \(own.rawValue) environment and its external account '\(account.name)' goes to "
            + "\(account.host), which is for \(environment.rawValue): there every push token is a bad one. "
            + "Choose an account of the \(own.rawValue) environment"
    }

    /// Why the gateway will refuse the application's messages with the credential, with the remedy; nil if it may not.
    package static func problem(_ application: ApplicationRow, _ credential: CredentialNotice) -> String? {
        guard credential.kind == .apnsCertificate else { return nil }
        if !credential.environments.isEmpty, !credential.environments.contains(application.environment.rawValue) {
            return
                "its certificate is for the \(credential.environments.joined(separator: ", ")) environment and it is of the "
                + "\(application.environment.rawValue) one. Set another certificate with 'pushmta credential set'"
        }
        let id = application.bundleID
        // As in the check of the certificate itself: a certificate for voip may be the only one that an application
        // needs. Whether it has the topic of a delivery is checked for each delivery.
        guard !credential.topics.isEmpty, !credential.topics.contains(id),
            !credential.topics.contains(where: { $0.hasPrefix(id + ".") })
        else { return nil }
        return
            "its certificate may send to \(credential.topics.prefix(5).joined(separator: ", ")) and its bundle id is \(id). "
            + "Set the certificate of this application with 'pushmta credential set', or correct the bundle id"
    }

    /// Why the gateway will refuse messages of a push type with the credential, with the remedy; nil if it may not.
    package static func problem(_ application: ApplicationRow, _ credential: CredentialNotice, _ type: PushType)
        -> ContentProblem?
    {
        guard application.platform == .ios, credential.kind == .apnsCertificate else { return nil }
        if type.needsTokenAuthentication {
            return ContentProblem(
                key: "ios.push_type",
                cause:
                    "APNs accepts push type \(type.rawValue) only with a token key, and the credential is a certificate",
                remedy: "set the key (.p8) of your team with 'pushmta credential set'"
            )
        }
        let topic = application.bundleID + type.topicSuffix
        guard !credential.topics.isEmpty, !credential.topics.contains(topic) else { return nil }
        return ContentProblem(
            key: "ios.push_type",
            cause: "push type \(type.rawValue) has the topic \(topic), and the application's certificate may send to "
                + credential.topics.prefix(5).joined(separator: ", "),
            remedy: "set a certificate that carries the topic, or a token key (.p8), with 'pushmta credential set'"
        )
    }

    /// The same for a whole content: each variant has its own push type.
    package static func problems(
        _ application: ApplicationRow,
        _ credential: CredentialNotice?,
        _ content: LocalisedTemplate
    ) -> [ContentProblem] {
        guard let credential else { return [] }
        return zip(content.locales, content.templates).compactMap { locale, template in
            problem(application, credential, template.attributes.pushType).map { found in
                let key = locale.isEmpty ? found.key : "locales.\(locale).\(found.key)"
                return ContentProblem(key: key, cause: found.cause, remedy: found.remedy)
            }
        }
    }

    /// All faults: of the bundle id, the account and the credential.
    package static func problem(_ application: ApplicationRow, _ account: AccountRow?, _ credential: CredentialNotice?)
        -> String?
    {
        if application.platform == .ios, let problem = BundleID.problem(application.bundleID, .ios) {
            return "\(problem). 'pushmta app set \(application.name) --bundle-id' sets it"
        }
        return account.flatMap { problem(application, $0) } ?? credential.flatMap { problem(application, $0) }
    }
}
