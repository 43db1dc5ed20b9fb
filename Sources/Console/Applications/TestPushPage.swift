import Content
import HTTPTypes
import PushCore
import Store

/// A test push: one message of an application to one device, to see whether it arrives.
///
/// It takes the same way as every message, through a child and the gateway: the console itself can read neither
/// credentials nor push tokens.
struct TestPushPage: Sendable {
    let responder: ConsoleResponder

    /// The query value that tells the page of a delivery that a test push was made.
    static let done = "test"
    /// The maximum number of seed addresses offered; other devices are given by the number of their subscription.
    private static let maxSeeds = 200
    /// The characters of a title and of a text that a phone shows.
    private static let (longestTitle, maxTextLength) = (200, 1_000)

    private var catalogue: Catalogue { responder.pages.catalogue }

    /// The names of the fields.
    private enum Name {
        static let seed = "seed"
        static let subscription = "subscription"
        static let title = "title"
        static let text = "text"
    }

    var routes: [ConsoleRoute] {
        let path = ApplicationPage.path("{id}") + "/test"
        return [
            ConsoleRoute(.get, path, .role(.operate)) { try await form($0).form.reply() },
            ConsoleRoute(.post, path, .role(.operate)) { try await send($0) },
        ]
    }

    /// The form, and what its message needs.
    private struct Prepared {
        let form: FormPage
        let application: ApplicationRow
        let connector: Connector?
    }

    private func form(_ call: ConsoleCall) async throws -> Prepared {
        let id = try call.smallID()
        let (application, account, seeds) = try await responder.database.run { store in
            let application = try await store.application(id)
            var account: AccountRow?
            if let id = application.accountID { account = try await store.account(id) }
            let seeds = try await store.testAddresses(application: id, limit: Self.maxSeeds, by: call.actor)
            return (application, account, seeds)
        }
        let path = ApplicationPage.path("\(id)")
        let obstacle: String =
            if application.accountID == nil {
                catalogue[.noAccountText] + " " + catalogue[.noAccountRemedy]
            } else if application.credentialID == nil {
                catalogue[.noCredentialText]
            } else {
                ""
            }
        let form = FormPage(
            title: catalogue.text(.testTitle, application.name),
            action: path + "/test",
            back: (path, application.name),
            intro: catalogue[.testText],
            fields: (seeds.isEmpty ? [] : [seedField(seeds)]) + ownFields(hasSeeds: !seeds.isEmpty),
            button: catalogue[.testSend],
            obstacle: obstacle
        )
        return Prepared(form: form, application: application, connector: account?.connector)
    }

    private func seedField(_ seeds: [(name: String, label: String)]) -> FormField {
        let options = seeds.map { seed in
            FormOption(seed.name, seed.label.isEmpty ? seed.name : "\(seed.name) (\(seed.label))")
        }
        return FormField(
            name: Name.seed,
            label: catalogue[.fieldSeed],
            kind: .choice([FormOption("", catalogue[.seedNone])] + options),
            value: options.first?.value ?? ""
        )
    }

    private func ownFields(hasSeeds: Bool) -> [FormField] {
        [
            FormField(
                name: Name.subscription,
                label: catalogue[.fieldSubscription],
                kind: .text,
                hint: catalogue[.fieldSubscriptionHint] + (hasSeeds ? "" : " " + catalogue[.fieldSeedHint]),
                maxLength: 19
            ),
            FormField(
                name: Name.title,
                label: catalogue[.fieldTestTitle],
                kind: .text,
                isRequired: true,
                value: catalogue[.testTitleWords],
                maxLength: Self.longestTitle
            ),
            FormField(
                name: Name.text,
                label: catalogue[.fieldTestBody],
                kind: .text,
                value: catalogue[.testBodyWords],
                maxLength: Self.maxTextLength
            ),
        ]
    }

    private func send(_ call: ConsoleCall) async throws -> ConsoleReply {
        let prepared = try await form(call)
        let application = prepared.application
        return try await prepared.form.reply(to: call) {
            let addressee = try addressee(call)
            let content = Self.content(application.platform, title: call.typed(Name.title), text: call.typed(Name.text))
            do {
                _ = try application.template(of: content, over: prepared.connector)
            } catch {
                throw FormRefusal(words: "\(error)")
            }
            let delivery = try await responder.database.run {
                try await $0.sendTestPush(
                    application: application.id,
                    content: content,
                    to: addressee,
                    by: call.actor
                )
            }
            return .redirect("/deliveries/\(delivery)?done=\(Self.done)")
        }
    }

    /// A typed number wins over the chosen seed address.
    private func addressee(_ call: ConsoleCall) throws -> TestAddressee {
        let number = call.typed(Name.subscription)
        if !number.isEmpty {
            guard let id = Int64(number), id > 0 else { throw FormRefusal(words: catalogue[.findNoNumber]) }
            return .subscription(id)
        }
        let seed = call.typed(Name.seed)
        guard !seed.isEmpty else { throw FormRefusal(words: catalogue[.testToNobody]) }
        return .seed(seed)
    }

    /// A content with only a title and a text.
    private static func content(_ platform: Platform, title: String, text: String) -> String {
        let shown = ["title": title, "body": text].filter { !$0.value.isEmpty }
        return "{\(JSONObjectText.quoted(platform.rawValue)): \(JSONObjectText.write(shown) ?? "{}")}"
    }
}
