import Content
import Foundation
import Gateways
import HTTPTypes
import PushCore
import Store

/// Changing an application: its label, its route to the gateway, what its app has built in, and its declarations.
struct ApplicationChangePage: Sendable {
    let responder: ConsoleResponder

    /// An icon of 256 KiB in Base64 with some percent-encoded characters, and the rows.
    private static let maxBytes = 512 << 10
    /// The fields of all rows, and those above them.
    private static let maxFields = DeclarationRows.maxRows * 10 + 50
    /// No one scrolls through more; sites with more accounts choose one on the command line.
    private static let maxAccounts = 500

    private var catalogue: Catalogue { responder.pages.catalogue }
    private var words: ApplicationWords { ApplicationWords(catalogue: catalogue) }

    /// The names of the fields, apart from those of rows.
    private enum Name {
        static let label = "label"
        static let account = "account"
        static let rate = "rate"
        static let bundleID = "bundle"
        static let key = "key"
        static let format = "format"
        static let icon = "icon"
        static let noIcon = "no_icon"
        static let version = "version"
        static let go = "go"
    }

    var routes: [ConsoleRoute] {
        let path = ApplicationPage.path("{id}") + "/change"
        return [
            ConsoleRoute(.get, path, .role(.admin)) { call in
                let present = try await present(call)
                return page(present, typed(present), DeclarationRows(present.declared), nil)
            },
            ConsoleRoute(.post, path, .role(.admin), maxBytes: Self.maxBytes, maxFields: Self.maxFields) {
                try await save($0)
            },
        ]
    }

    /// The application as it is now.
    private struct Present: Sendable {
        let version: Int64
        let rate: Double?
        let row: ApplicationRow
        let declared: ApplicationDeclarations
        let credential: CredentialFacts?
        let hasIcon: Bool
        let accounts: [AccountRow]

        var account: AccountRow? { accounts.first { $0.id == row.accountID } }
    }

    private func present(_ call: ConsoleCall) async throws -> Present {
        let id = try call.smallID()
        return try await responder.database.run { store in
            // Read the version first, so that a change made during this read is detected when the form is saved.
            let version = try await store.applicationVersion(id)
            let row = try await store.application(id)
            var credential: CredentialFacts?
            if let id = row.credentialID { credential = try await store.credentialFacts(id) }
            var accounts = try await store.accounts(after: "", platform: row.platform, limit: Self.maxAccounts)
            if let id = row.accountID, !accounts.contains(where: { $0.id == id }) {
                accounts.append(try await store.account(id))
            }
            return Present(
                version: version.version,
                rate: version.messagesPerSecond,
                row: row,
                declared: try await store.declarations(application: row.name),
                credential: credential,
                hasIcon: try await store.icon(application: row.name) != nil,
                accounts: accounts
            )
        }
    }

    private func save(_ call: ConsoleCall) async throws -> ConsoleReply {
        let present = try await present(call)
        let typed = call.form.values
        var rows = DeclarationRows(typed)
        if rows.press(call.typed(Name.go)) { return page(present, typed, rows, nil) }
        do {
            let (change, rate) = try change(typed, rows, present)
            let version = Int64(typed[Name.version] ?? "") ?? 0
            try await responder.database.run {
                try await $0.changeApplication(
                    present.row.id,
                    change,
                    version: version,
                    messagesPerSecond: rate,
                    by: call.actor
                )
            }
        } catch let refusal as FormRefusal {
            return page(present, typed, rows, refusal)
        } catch let error as StoreError {
            guard let refusal = refusal(error) else { throw error }
            return page(present, typed, rows, refusal)
        }
        return .redirect(ApplicationPage.path("\(present.row.id)") + "?done=changed")
    }

    /// Shows the database's refusal at the field that caused it.
    private func refusal(_ error: StoreError) -> FormRefusal? {
        guard let refusal = FormRefusal(error), !refusal.isStale else { return FormRefusal(error) }
        switch error.sqlState {
        case "PM133": return FormRefusal([Name.format: catalogue[.formatUnderWay]])
        case "PM134": return FormRefusal([Name.key: catalogue[.keyTaken]])
        // This page has already made all of the store's checks, except the one of the bundle id against the
        // certificate.
        case nil: return FormRefusal([Name.bundleID: refusal.words])
        default: return refusal
        }
    }
}

/// The typed values.
extension ApplicationChangePage {
    /// The initial values of the fields.
    private func typed(_ present: Present) -> [String: String] {
        let row = present.row
        return [
            Name.label: row.label, Name.account: present.account?.name ?? "",
            Name.rate: present.rate.map(RateNumber.text) ?? "", Name.bundleID: row.bundleID,
            Name.key: row.integrationKey,
            Name.format: row.messageIDFormat.rawValue, Name.version: "\(present.version)",
        ]
    }

    /// The requested change, and the rate.
    private func change(_ typed: [String: String], _ rows: DeclarationRows, _ present: Present) throws(FormRefusal) -> (
        ApplicationChange, Double?
    ) {
        let row = present.row
        var problems: [String: String] = [:]
        func text(_ name: String) -> String { (typed[name] ?? "").trimmed }
        var change = ApplicationChange()
        if text(Name.label) != row.label {
            change.label = text(Name.label)
            problems[Name.label] = NameRule.problem(label: text(Name.label)).map { problem in
                "\(catalogue[.fieldLabel]): \(problem); \(NameRule.labelWords)"
            }
        }
        if text(Name.key) != row.integrationKey {
            change.integrationKey = text(Name.key)
            problems[Name.key] = NameRule.problem(integrationKey: text(Name.key)).map { problem in
                "\(catalogue[.integrationKeyTitle]): \(problem); \(NameRule.integrationKeyWords)"
            }
        }
        if text(Name.bundleID) != row.bundleID {
            change.bundleID = text(Name.bundleID)
            problems[Name.bundleID] = BundleID.problem(text(Name.bundleID), row.platform)
        }
        let format = MessageIDFormat(rawValue: text(Name.format))
        if format == nil { problems[Name.format] = catalogue[.formatMissing] }
        if format != row.messageIDFormat { change.messageIDFormat = format }
        let account = text(Name.account)
        if account != present.account?.name ?? "" {
            change.account = account
            problems[Name.account] = problem(account, present)
        }
        let rate = RateField.value(text(Name.rate))
        if rate == .wrong { problems[Name.rate] = RateField.problem(text(Name.rate), catalogue) }
        let declared = rows.declared(over: present.declared, row.platform, &problems)
        if declared != present.declared { change.declarations = declared }
        do throws(DeclarationError) {
            change.icon = try icon(text(Name.icon))
        } catch {
            problems[Name.icon] = error.sentence
        }
        // A new icon replaces the removed one.
        change.removesIcon = typed[Name.noIcon] == FormField.yes && change.icon == nil
        guard problems.isEmpty else { throw FormRefusal(problems) }
        return (change, rate.messagesPerSecond)
    }

    /// What is wrong with an account; nil if messages can go through it.
    private func problem(_ name: String, _ present: Present) -> String? {
        guard let account = present.accounts.first(where: { $0.name == name }) else {
            return catalogue[.accountMissing]
        }
        if let problem = RouteCheck.problem(present.row, account) { return problem + "." }
        guard let kind = present.credential?.kind, !kind.suits(account.connector) else { return nil }
        return catalogue.text(.accountUnfit, account.connector.rawValue, words.kind(kind))
    }

    private func icon(_ text: String) throws(DeclarationError) -> ApplicationIcon? {
        guard !text.isEmpty else { return nil }
        guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            throw DeclarationError("icon", catalogue[.iconNoBase64], catalogue[.iconNoBase64Remedy])
        }
        return try ApplicationIcon(png: Array(data))
    }
}

/// The page itself.
extension ApplicationChangePage {
    private func page(_ present: Present, _ typed: [String: String], _ rows: DeclarationRows, _ refusal: FormRefusal?)
        -> ConsoleReply
    {
        let path = ApplicationPage.path("\(present.row.id)")
        func shown(_ fields: [FormField]) -> PageValue {
            .list(fields.map { $0.values(typed, problem: refusal?.problems[$0.name]) })
        }
        var values: PageValues = [
            "action": .text(path + "/change"), "back": .text(path), "backName": .text(present.row.name),
            "given": .text(typed[Name.version] ?? ""), "general": shown(general(present)),
            "builtIn": shown(builtIn(present)), "hasIcon": .flag(present.hasIcon),
            "isIconGone": .flag(typed[Name.noIcon] == FormField.yes), "icon": .text(typed[Name.icon] ?? ""),
            "isIconTyped": .flag(!(typed[Name.icon] ?? "").isEmpty),
            "lists": rows.values(refusal?.problems ?? [:], catalogue),
            "columns": .list(DeclarationRows.columns.map { ["value": .text($0)] }),
            "isStale": .flag(refusal?.isStale ?? false),
        ]
        if let problem = refusal?.problems[Name.icon] { values["iconProblem"] = .text(problem) }
        if let refusal { values["problem"] = .text(refusal.words) }
        return .page(
            ConsolePage(
                "application-change",
                title: catalogue.text(.changeTitle, present.row.name),
                values,
                status: refusal == nil ? .ok : .unprocessableContent
            )
        )
    }

    private func general(_ present: Present) -> [FormField] {
        let none = present.account == nil ? [FormOption("", catalogue[.noAccountYet])] : []
        return [
            FormField(
                name: Name.label,
                label: catalogue[.fieldLabel],
                kind: .text,
                hint: catalogue[.labelHint],
                maxLength: NameRule.maxLabelLength
            ),
            FormField(
                name: Name.account,
                label: catalogue[.columnAccount],
                kind: .choice(
                    none
                        + present.accounts.map {
                            FormOption($0.name, "\($0.name) (\($0.connector.rawValue), \($0.host))")
                        }
                ),
                hint: catalogue[.accountChangeHint]
            ),
            RateField.field(Name.rate, catalogue),
        ]
    }

    private func builtIn(_ present: Present) -> [FormField] {
        let isIOS = present.row.platform == .ios
        return [
            FormField(
                name: Name.bundleID,
                label: catalogue[isIOS ? .factBundleID : .factPackage],
                kind: .text,
                hint: catalogue[.bundleChangeHint],
                isRequired: true,
                maxLength: 255
            ),
            FormField(
                name: Name.key,
                label: catalogue[.integrationKeyTitle],
                kind: .text,
                hint: catalogue[.keyChangeHint],
                isRequired: true,
                maxLength: NameRule.maxIntegrationKeyLength
            ),
            FormField(
                name: Name.format,
                label: catalogue[.factMessageIDs],
                kind: .choice([MessageIDFormat.uuid, .int32].map { FormOption($0.rawValue, words.messageIDs($0)) }),
                hint: catalogue[.formatChangeHint]
            ),
        ]
    }
}
