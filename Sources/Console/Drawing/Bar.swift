/// A bar of several parts, each a share of the whole; the rest is empty. The text next to it says the same.
enum Bar {
    static func markup(_ parts: [(share: Double, style: String)]) -> Markup {
        var left = 0.0
        var rects = ""
        for (share, style) in parts {
            // Any part above zero is visible.
            let width = share > 0 ? min(max(share.isFinite ? share * 100 : 0, 0.6), 100 - left) : 0
            guard width > 0 else { continue }
            rects += "<rect class=\"\(style)\" x=\"\(number(left))\" width=\"\(number(width))\" height=\"8\"/>"
            left += width
        }
        return Markup(
            trusted:
                "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\(rects)</svg>"
        )
    }

    static func number(_ value: Double) -> String { String((value * 100).rounded() / 100) }
}
