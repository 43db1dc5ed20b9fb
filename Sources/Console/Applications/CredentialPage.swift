import Foundation
import HTTPTypes
import PushCore
import Store

/// What was uploaded as the credential of an application.
package struct CredentialUpload: Sendable {
    package let application: ApplicationRow
    /// The bytes of the file; never logged.
    package let material: [UInt8]
    /// The id of Apple's key; nil for other kinds.
    package let keyID: String?
    /// The id of Apple's developer team; nil for other kinds.
    package let teamID: String?
    /// The passphrase of a certificate file; never logged.
    package let passphrase: String
    /// Whether a certificate may serve both environments.
    package let isForBoth: Bool
}

/// Checks, seals and stores credentials. The program passes it to the console, which knows neither their forms nor
/// the key.
package struct CredentialSealing: Sendable {
    /// Why nothing can be sealed here, with a remedy; nil if the key is available.
    package var problem: @Sendable () -> String?
    /// Throws ``CredentialRefusal`` if the application cannot use what was uploaded.
    package var save: @Sendable (CredentialUpload, Store, ConsoleActor) async throws -> Void
    /// Seals a secret of a webhook under an id.
    package var seal: @Sendable (_ secret: [UInt8], _ id: Int64) throws -> SealedWebhookSecret

    package init(
        problem: @escaping @Sendable () -> String?,
        save: @escaping @Sendable (CredentialUpload, Store, ConsoleActor) async throws -> Void,
        seal: @escaping @Sendable (_ secret: [UInt8], _ id: Int64) throws -> SealedWebhookSecret
    ) {
        self.problem = problem
        self.save = save
        self.seal = seal
    }
}

/// The upload is not a credential that the application can use.
package struct CredentialRefusal: Error, CustomStringConvertible {
    /// What is wrong, and what to do; contains nothing of the material.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// Uploading a credential: it is sealed at once, and never shown again.
struct CredentialPage: Sendable {
    let responder: ConsoleResponder

    /// A certificate with its chain in Base64, percent-encoded; keys and service accounts have 3 KiB.
    private static let maxBytes = 128 << 10

    private var catalogue: Catalogue { responder.pages.catalogue }

    /// The names of the fields.
    private enum Name {
        static let material = "material"
        static let keyID = "key_id"
        static let teamID = "team_id"
        static let passphrase = "passphrase"
        static let both = "both"
    }

    var routes: [ConsoleRoute] {
        let path = ApplicationPage.path("{id}") + "/credential"
        return [
            ConsoleRoute(.get, path, .role(.admin)) { call in form(try await application(call)).reply() },
            ConsoleRoute(.post, path, .role(.admin), maxBytes: Self.maxBytes) { try await upload($0) },
        ]
    }

    private func application(_ call: ConsoleCall) async throws -> ApplicationRow {
        let id = try call.smallID()
        return try await responder.database.run { try await $0.application(id) }
    }

    private func form(_ application: ApplicationRow) -> FormPage {
        let path = ApplicationPage.path("\(application.id)")
        let isIOS = application.platform == .ios
        let material = FormField(
            name: Name.material,
            label: catalogue[isIOS ? .materialIOS : .materialAndroid],
            kind: .file,
            hint: catalogue[isIOS ? .materialIOSHint : .materialAndroidHint],
            isRequired: true
        )
        let ofKey = [
            FormField(
                name: Name.keyID,
                label: catalogue[.credentialKeyID],
                kind: .text,
                hint: catalogue[.keyIDHint],
                maxLength: 10
            ),
            FormField(
                name: Name.teamID,
                label: catalogue[.credentialTeamID],
                kind: .text,
                hint: catalogue[.teamIDHint],
                maxLength: 10
            ),
        ]
        let ofCertificate = [
            FormField(
                name: Name.passphrase,
                label: catalogue[.fieldPassphrase],
                kind: .secret,
                hint: catalogue[.passphraseHint]
            ),
            FormField(name: Name.both, label: catalogue[.fieldBoth], kind: .tick, hint: catalogue[.fieldBothHint]),
        ]
        let problem = responder.setup.credentials.problem()
        return FormPage(
            title: catalogue.text(.credentialFormTitle, application.name),
            action: path + "/credential",
            back: (path, application.name),
            intro: catalogue[.credentialFormText],
            fields: [material] + (isIOS ? ofKey + ofCertificate : []),
            button: catalogue[.credentialFormButton],
            obstacle: problem.map { catalogue.text(.noSealingKey, $0) } ?? ""
        )
    }

    private func upload(_ call: ConsoleCall) async throws -> ConsoleReply {
        let application = try await application(call)
        return try await form(application).reply(to: call) {
            let sealing = responder.setup.credentials
            if let problem = sealing.problem() {
                throw FormRefusal(words: catalogue.text(.noSealingKey, problem))
            }
            let upload = try upload(call, application)
            try await responder.database.run { try await sealing.save(upload, $0, call.actor) }
            return .redirect(ApplicationPage.path("\(application.id)") + "?done=credential")
        }
    }

    private func upload(_ call: ConsoleCall, _ application: ApplicationRow) throws -> CredentialUpload {
        let text = call.typed(Name.material)
        guard !text.isEmpty else { throw FormRefusal(words: catalogue[.materialMissing]) }
        let (keyID, teamID) = (call.typed(Name.keyID), call.typed(Name.teamID))
        // Google's JSON holds a private key, too. The check of its contents reports that it is of no use here.
        if text.contains("PRIVATE KEY"), !text.hasPrefix("{"), application.platform == .ios,
            keyID.isEmpty || teamID.isEmpty
        {
            throw FormRefusal(words: catalogue[.keyIDsMissing])
        }
        return CredentialUpload(
            application: application,
            material: Self.bytes(text, application.platform),
            keyID: keyID.isEmpty ? nil : keyID,
            teamID: teamID.isEmpty ? nil : teamID,
            passphrase: call.form[Name.passphrase] ?? "",
            isForBoth: call.isTicked(Name.both)
        )
    }

    /// The bytes that the text stands for. A certificate file is binary, so it arrives as Base64; no other kind's
    /// text is valid Base64 of a certificate.
    static func bytes(_ text: String, _ platform: Platform) -> [UInt8] {
        // A SEQUENCE in DER or BER. Google's keys are single words that may pass for Base64.
        guard platform == .ios, let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
            data.first == 0x30, !text.hasPrefix("-----")
        else { return Array(text.utf8) }
        return Array(data)
    }
}
