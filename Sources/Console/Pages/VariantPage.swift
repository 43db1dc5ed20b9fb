import Content
import HTTPTypes
import PushCore
import Store

/// A variant of an experiment: what it looks like, and proofs of it to seed addresses.
struct VariantPage: Sendable {
    let responder: ConsoleResponder

    /// The seed addresses that are offered, and the token.
    private static let maxFields = 400

    private var catalogue: Catalogue { responder.pages.catalogue }

    static func path(_ delivery: Int64, _ variant: Int16) -> String { "/deliveries/\(delivery)/variants/\(variant)" }

    var routes: [ConsoleRoute] {
        let path = "/deliveries/{id}/variants/{variant}"
        // The database knows whose delivery it is.
        return [
            ConsoleRoute(.get, path, .role(.marketing)) { try await page($0) },
            ConsoleRoute(.post, path, .role(.marketing), maxFields: Self.maxFields) { try await prove($0) },
        ]
    }

    private func page(_ call: ConsoleCall, problem: String? = nil) async throws -> ConsoleReply {
        let (id, number) = (try call.number("id"), Int16(clamping: try call.number("variant")))
        let (progress, variants, forms, choices) = try await responder.database.run { store in
            (
                try await store.deliveryProgress(id), try await store.experimentVariants(ofDelivery: id),
                try await store.messageForms(delivery: id), try await store.composerChoices(by: call.actor)
            )
        }
        guard let variant = variants.first(where: { Int64($0.variant) == Int64(number) && !$0.isRest }) else {
            throw ConsoleProblem.notFound
        }
        let content = try await responder.database.run {
            try await $0.apiContent(delivery: id, variant: Int32(number))
        }
        let (messages, problems) = self.messages(content, forms)
        let applications = Set(forms.map(\.application.name))
        let offered = choices.seeds.filter { applications.contains($0.application) }
        var values: PageValues = [
            "back": .text("/deliveries/\(id)"),
            "subject": .text(DeliveryWords(row: progress, catalogue: catalogue).name),
            "action": .text(Self.path(id, number)), "messages": .list(messages), "problems": .list(problems),
        ]
        values.merge(Composer(responder: responder).seeds(offered, call)) { own, _ in own }
        if let problem { values["problem"] = .text(problem) }
        return .page(
            ConsolePage(
                "variant",
                title: catalogue.text(.variantTitle, variant.label),
                values,
                status: problem == nil ? .ok : .unprocessableContent
            )
        )
    }

    /// The message for each application, and why there is none for others.
    private func messages(_ content: APIContent, _ forms: [MessageForm]) -> ([PageValues], [PageValues]) {
        var messages: [PageValues] = []
        var problems: [PageValues] = []
        for form in forms {
            let template: LocalisedTemplate
            do throws(ContentError) {
                template = try form.template(of: content.json, delivery: content)
            } catch {
                problems += error.problems.map { problem -> PageValues in
                    ["words": .text("\(form.application.name): \(problem)")]
                }
                continue
            }
            let sample = template.sample(values: [:], locale: "")
            let phone = PhoneMessage(sample.payload, form.application.platform)
            messages.append([
                "application": .text(form.application.name), "messageTitle": .text(phone.title),
                "body": .text(phone.body), "hasLink": .flag(!phone.link.isEmpty), "link": .text(phone.link),
                "size": .text(Figures.count(Int64(sample.size))), "limit": .text(Figures.count(Int64(sample.limit))),
                "payload": .text(sample.payload.compactText),
            ])
        }
        return (messages, problems)
    }

    /// Sends the variant, and leads to the proof, which is a delivery of its own.
    private func prove(_ call: ConsoleCall) async throws -> ConsoleReply {
        let (id, number) = (try call.number("id"), Int32(clamping: try call.number("variant")))
        let prefix = Composer.Field.seed
        let seeds = call.form.values.keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
            .sorted()
        guard !seeds.isEmpty else { return try await page(call, problem: catalogue[.proofToNobody]) }
        do {
            let proof = try await responder.database.run {
                try await $0.proveVariant(number, ofDelivery: id, to: seeds, by: call.actor)
            }
            let back = SignIn.encoded(Self.path(id, Int16(clamping: number)))
            return .redirect("/deliveries/\(proof)?\(DeliveryDetailPage.backField)=\(back)")
        } catch let error as StoreError {
            guard let refusal = FormRefusal(error) else { throw error }
            return try await page(call, problem: refusal.words)
        }
    }
}
