import HTTPTypes
import PushCore
import Store

/// The optional page behind the last step: variants of the content, of which the best goes to the rest.
extension Composer {
    /// Behind the address of a draft.
    private static let experiment = "experiment"

    var experimentRoutes: [ConsoleRoute] {
        [
            route(.get, Self.experiment) { _, composed in experimentPage(composed).reply() },
            route(.post, Self.experiment) { try await saveExperiment($0, $1) },
        ]
    }

    func experimentPath(_ draft: ConsoleDraft) -> String { "\(Self.path)/\(draft.id)/\(Self.experiment)" }

    private func experimentPage(_ composed: ComposedDraft) -> FormPage {
        FormPage(
            title: catalogue[.experimentTitle],
            action: experimentPath(composed.draft),
            back: (path(composed.draft, .send), name(composed.draft)),
            intro: catalogue[.experimentIntro],
            fields: ExperimentForm(composed: composed, catalogue: catalogue).fields,
            hidden: [Field.version: "\(composed.draft.version)"],
            button: catalogue[.save],
            obstacle: composed.platforms.isEmpty ? catalogue[.chooseApplicationsFirst] : ""
        )
    }

    private func saveExperiment(_ call: ConsoleCall, _ composed: ComposedDraft) async throws -> ConsoleReply {
        guard call.form[Field.version] == "\(composed.draft.version)" else {
            throw ConsoleProblem.conflict(catalogue[.draftChanged])
        }
        var changed = composed
        ExperimentForm.take(call.form, into: &changed.draft.fields)
        let form = ExperimentForm(composed: changed, catalogue: catalogue)
        let draft = changed.draft
        return try await experimentPage(composed).reply(to: call) {
            _ = try form.rule()
            try await responder.database.run { try await $0.saveConsoleDraft(draft, by: call.actor) }
            return .redirect(path(draft, .send) + "?saved=1")
        }
    }
}
