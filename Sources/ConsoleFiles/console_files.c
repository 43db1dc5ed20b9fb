// ConsoleFiles: templates, texts, style, script and icon of the console, built into the program.
//
// WHAT IT DOES
//   Holds the files of templates/, words/ and assets/ word for word, as they were when the program was built, so that a console needs
//   no files beside the program and loads nothing from elsewhere.
//
// HOW IT IS USED
//   Console alone imports it: console_file_at(index) gives name and text of each file, and a null name behind the last. The
//   templates are Mustache; PageRenderer knows them by their names. {{t.name}} is a text of the catalogue (Phrase), and
//   words/LANGUAGE.words has those of a language (WordFile).
//
// HOW A FILE IS ADDED
//   It gets two entries here: its text (#embed) and its place in the list.
//
// FAILURES
//   It cannot fail: an index outside of the list gives its end. A file that is missing is an error of the build.
//
// SEE ALSO
//   include/ConsoleFiles.h, templates/layout.mustache, assets/console.css, assets/console.js, assets/compose.js,
//   Sources/Console/Pages/PageRenderer.swift, Sources/Console/Words/Phrase.swift

#include "ConsoleFiles.h"

// clang takes #embed, which is C23, in every mode, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char layout[] = {
#embed "templates/layout.mustache" suffix(, 0)
};
static const char sign_in[] = {
#embed "templates/sign-in.mustache" suffix(, 0)
};
static const char password[] = {
#embed "templates/password.mustache" suffix(, 0)
};
static const char problem[] = {
#embed "templates/problem.mustache" suffix(, 0)
};
static const char now[] = {
#embed "templates/now.mustache" suffix(, 0)
};
static const char now_live[] = {
#embed "templates/now-live.mustache" suffix(, 0)
};
static const char deliveries[] = {
#embed "templates/deliveries.mustache" suffix(, 0)
};
static const char delivery[] = {
#embed "templates/delivery.mustache" suffix(, 0)
};
static const char delivery_about[] = {
#embed "templates/delivery-about.mustache" suffix(, 0)
};
static const char delivery_charts[] = {
#embed "templates/delivery-charts.mustache" suffix(, 0)
};
static const char delivery_content[] = {
#embed "templates/delivery-content.mustache" suffix(, 0)
};
static const char confirm[] = {
#embed "templates/confirm.mustache" suffix(, 0)
};
static const char limit_table[] = {
#embed "templates/limit-table.mustache" suffix(, 0)
};
static const char alarms[] = {
#embed "templates/alarms.mustache" suffix(, 0)
};
static const char alarm_list[] = {
#embed "templates/alarm-list.mustache" suffix(, 0)
};
static const char events[] = {
#embed "templates/events.mustache" suffix(, 0)
};
static const char hosts[] = {
#embed "templates/hosts.mustache" suffix(, 0)
};
static const char audit[] = {
#embed "templates/audit.mustache" suffix(, 0)
};
static const char find_message[] = {
#embed "templates/find-message.mustache" suffix(, 0)
};
static const char subscribers[] = {
#embed "templates/subscribers.mustache" suffix(, 0)
};
static const char subscriber_search[] = {
#embed "templates/subscriber-search.mustache" suffix(, 0)
};
static const char subscriber_table[] = {
#embed "templates/subscriber-table.mustache" suffix(, 0)
};
static const char service_subscriptions[] = {
#embed "templates/service-subscriptions.mustache" suffix(, 0)
};
static const char subscriber[] = {
#embed "templates/subscriber.mustache" suffix(, 0)
};
static const char quarantine[] = {
#embed "templates/quarantine.mustache" suffix(, 0)
};
static const char templates[] = {
#embed "templates/templates.mustache" suffix(, 0)
};
static const char template[] = {
#embed "templates/template.mustache" suffix(, 0)
};
static const char settings[] = {
#embed "templates/settings.mustache" suffix(, 0)
};
static const char setting_table[] = {
#embed "templates/setting-table.mustache" suffix(, 0)
};
static const char compose[] = {
#embed "templates/compose/compose.mustache" suffix(, 0)
};
static const char compose_head[] = {
#embed "templates/compose/compose-head.mustache" suffix(, 0)
};
static const char compose_go[] = {
#embed "templates/compose/compose-go.mustache" suffix(, 0)
};
static const char compose_hidden[] = {
#embed "templates/compose/compose-hidden.mustache" suffix(, 0)
};
static const char compose_applications[] = {
#embed "templates/compose/compose-applications.mustache" suffix(, 0)
};
static const char compose_target[] = {
#embed "templates/compose/compose-target.mustache" suffix(, 0)
};
static const char compose_field[] = {
#embed "templates/compose/compose-field.mustache" suffix(, 0)
};
static const char compose_template[] = {
#embed "templates/compose/compose-template.mustache" suffix(, 0)
};
static const char compose_content[] = {
#embed "templates/compose/compose-content.mustache" suffix(, 0)
};
static const char compose_preview[] = {
#embed "templates/compose/compose-preview.mustache" suffix(, 0)
};
static const char compose_when[] = {
#embed "templates/compose/compose-when.mustache" suffix(, 0)
};
static const char compose_experiment[] = {
#embed "templates/compose/compose-experiment.mustache" suffix(, 0)
};
static const char compose_limits[] = {
#embed "templates/compose/compose-limits.mustache" suffix(, 0)
};
static const char compose_approval[] = {
#embed "templates/compose/compose-approval.mustache" suffix(, 0)
};
static const char zone_menu[] = {
#embed "templates/zone-menu.mustache" suffix(, 0)
};
static const char compose_send[] = {
#embed "templates/compose/compose-send.mustache" suffix(, 0)
};
static const char phone_ios[] = {
#embed "templates/compose/phone-ios.mustache" suffix(, 0)
};
static const char phone_android[] = {
#embed "templates/compose/phone-android.mustache" suffix(, 0)
};
static const char phone_notes[] = {
#embed "templates/compose/phone-notes.mustache" suffix(, 0)
};
static const char phone_icon[] = {
#embed "templates/compose/phone-icon.mustache" suffix(, 0)
};
static const char logo[] = {
#embed "templates/logo.mustache" suffix(, 0)
};
static const char phone_payload[] = {
#embed "templates/compose/phone-payload.mustache" suffix(, 0)
};
static const char services[] = {
#embed "templates/services.mustache" suffix(, 0)
};
static const char application[] = {
#embed "templates/application.mustache" suffix(, 0)
};
static const char variant[] = {
#embed "templates/variant.mustache" suffix(, 0)
};
static const char users[] = {
#embed "templates/users.mustache" suffix(, 0)
};
static const char secret[] = {
#embed "templates/secret.mustache" suffix(, 0)
};
static const char caps[] = {
#embed "templates/caps.mustache" suffix(, 0)
};
static const char signals[] = {
#embed "templates/signals.mustache" suffix(, 0)
};
static const char accounts[] = {
#embed "templates/accounts.mustache" suffix(, 0)
};
static const char account[] = {
#embed "templates/account.mustache" suffix(, 0)
};
static const char application_change[] = {
#embed "templates/application-change.mustache" suffix(, 0)
};
static const char form[] = {
#embed "templates/form.mustache" suffix(, 0)
};
static const char form_field[] = {
#embed "templates/form-field.mustache" suffix(, 0)
};
static const char text_counter[] = {
#embed "templates/text-counter.mustache" suffix(, 0)
};
static const char seeds[] = {
#embed "templates/audience/seeds.mustache" suffix(, 0)
};
static const char audiences[] = {
#embed "templates/audience/audiences.mustache" suffix(, 0)
};
static const char audience[] = {
#embed "templates/audience/audience.mustache" suffix(, 0)
};
static const char service_facts[] = {
#embed "templates/service-facts.mustache" suffix(, 0)
};
static const char control_group[] = {
#embed "templates/control-group.mustache" suffix(, 0)
};
static const char exclusions[] = {
#embed "templates/audience/exclusions.mustache" suffix(, 0)
};
static const char exclusion[] = {
#embed "templates/audience/exclusion.mustache" suffix(, 0)
};
static const char messages[] = {
#embed "templates/messages.mustache" suffix(, 0)
};
static const char delivery_live[] = {
#embed "templates/delivery-live.mustache" suffix(, 0)
};
static const char delivery_state[] = {
#embed "templates/delivery-state.mustache" suffix(, 0)
};
static const char live_control[] = {
#embed "templates/live-control.mustache" suffix(, 0)
};
static const char recurrence[] = {
#embed "templates/recurrence.mustache" suffix(, 0)
};
static const char experiment[] = {
#embed "templates/experiment.mustache" suffix(, 0)
};
static const char compare[] = {
#embed "templates/compare.mustache" suffix(, 0)
};
static const char approvals[] = {
#embed "templates/approvals.mustache" suffix(, 0)
};
static const char english[] = {
#embed "words/en.words" suffix(, 0)
};
static const char german[] = {
#embed "words/de.words" suffix(, 0)
};
static const char french[] = {
#embed "words/fr.words" suffix(, 0)
};
static const char console_css[] = {
#embed "assets/console.css" suffix(, 0)
};
static const char console_js[] = {
#embed "assets/console.js" suffix(, 0)
};
static const char compose_script[] = {
#embed "assets/compose.js" suffix(, 0)
};
static const char icon_svg[] = {
#embed "assets/icon.svg" suffix(, 0)
};

static const struct console_file files[] = {
    {"layout.mustache", layout},
    {"sign-in.mustache", sign_in},
    {"password.mustache", password},
    {"problem.mustache", problem},
    {"now.mustache", now},
    {"now-live.mustache", now_live},
    {"deliveries.mustache", deliveries},
    {"delivery.mustache", delivery},
    {"delivery-about.mustache", delivery_about},
    {"delivery-charts.mustache", delivery_charts},
    {"delivery-content.mustache", delivery_content},
    {"confirm.mustache", confirm},
    {"limit-table.mustache", limit_table},
    {"alarms.mustache", alarms},
    {"alarm-list.mustache", alarm_list},
    {"events.mustache", events},
    {"hosts.mustache", hosts},
    {"audit.mustache", audit},
    {"find-message.mustache", find_message},
    {"subscribers.mustache", subscribers},
    {"subscriber-search.mustache", subscriber_search},
    {"subscriber-table.mustache", subscriber_table},
    {"service-subscriptions.mustache", service_subscriptions},
    {"subscriber.mustache", subscriber},
    {"quarantine.mustache", quarantine},
    {"templates.mustache", templates},
    {"template.mustache", template},
    {"settings.mustache", settings},
    {"setting-table.mustache", setting_table},
    {"compose.mustache", compose},
    {"compose-head.mustache", compose_head},
    {"compose-go.mustache", compose_go},
    {"compose-hidden.mustache", compose_hidden},
    {"compose-applications.mustache", compose_applications},
    {"compose-target.mustache", compose_target},
    {"compose-field.mustache", compose_field},
    {"compose-template.mustache", compose_template},
    {"compose-content.mustache", compose_content},
    {"compose-preview.mustache", compose_preview},
    {"compose-when.mustache", compose_when},
    {"compose-experiment.mustache", compose_experiment},
    {"compose-limits.mustache", compose_limits},
    {"compose-approval.mustache", compose_approval},
    {"zone-menu.mustache", zone_menu},
    {"compose-send.mustache", compose_send},
    {"phone-ios.mustache", phone_ios},
    {"phone-android.mustache", phone_android},
    {"phone-notes.mustache", phone_notes},
    {"phone-icon.mustache", phone_icon},
    {"logo.mustache", logo},
    {"phone-payload.mustache", phone_payload},
    {"services.mustache", services},
    {"application.mustache", application},
    {"variant.mustache", variant},
    {"users.mustache", users},
    {"secret.mustache", secret},
    {"caps.mustache", caps},
    {"signals.mustache", signals},
    {"accounts.mustache", accounts},
    {"account.mustache", account},
    {"application-change.mustache", application_change},
    {"form.mustache", form},
    {"form-field.mustache", form_field},
    {"text-counter.mustache", text_counter},
    {"seeds.mustache", seeds},
    {"audiences.mustache", audiences},
    {"audience.mustache", audience},
    {"service-facts.mustache", service_facts},
    {"control-group.mustache", control_group},
    {"exclusions.mustache", exclusions},
    {"exclusion.mustache", exclusion},
    {"messages.mustache", messages},
    {"delivery-live.mustache", delivery_live},
    {"delivery-state.mustache", delivery_state},
    {"live-control.mustache", live_control},
    {"recurrence.mustache", recurrence},
    {"experiment.mustache", experiment},
    {"compare.mustache", compare},
    {"approvals.mustache", approvals},
    {"en.words", english},
    {"de.words", german},
    {"fr.words", french},
    {"console.css", console_css},
    {"console.js", console_js},
    {"compose.js", compose_script},
    {"icon.svg", icon_svg},
    {0, 0},
};

struct console_file console_file_at(int index) {
    const int last = sizeof files / sizeof *files - 1;
    return files[index < 0 || index > last ? last : index];
}
