import PushCore
import Store

extension ChunkTrial {
    /// Renders the first messages of a delivery as a child does; nil if its content has no fields, because the check
    /// before its preparation has seen all that such a content can be.
    ///
    /// Fields of a target mapping are not read here: reading a view of other people would hold the locks of the chunk's
    /// transaction for as long as the view takes. The messages of such an application are not tried; an analysis renders
    /// them.
    package static func of(_ job: PreparationJob) -> ChunkTrial? {
        var routes: [Route] = []
        for (place, (application, account)) in zip(job.applications, job.accounts).enumerated() {
            let credential = place < job.credentials.count ? job.credentials[place]?.kind : nil
            // Which variant the rest of an experiment gets is not known yet, so each is tried with all messages.
            for variant in job.shownVariants {
                // The check before the preparation has reported what cannot be compiled.
                guard
                    let previewer = try? MessagePreviewer(
                        job.delivery(showing: variant),
                        application: application,
                        account: account,
                        credential: credential
                    ),
                    !previewer.fields.names.isEmpty, !previewer.fields.needsMapping
                else { continue }
                let name = application.name
                routes.append(
                    Route(application: application.id, fields: previewer.fields) { loaded in
                        var rendered = RenderedMessages()
                        previewer.measure(loaded) { _, _, refusal in rendered.add(refusal) }
                        return rendered.problems(ofApplication: name, variant: variant?.label)
                    }
                )
            }
        }
        return routes.isEmpty ? nil : ChunkTrial(routes: routes)
    }
}
