"""Sentences in many scripts: some set the 8-bit steps, others check the result."""

from __future__ import annotations

CALIBRATION = (
    "The refund arrives within 5 to 7 working days.",
    "如果设备无法启动，请检查电源线是否插好。",
    "يرجى الاتصال بالدعم الفني خلال ٢٤ ساعة.",
    "कृपया अपना पासवर्ड बदलें और फिर से प्रयास करें।",
    "¿Cómo cambio mi plan? Pulse 2 y espere.",
    "Нажмите кнопку «Далее» и подождите минуту.",
    "reset password",
    "1. Unplug it.\n2. Wait 30 s.\n| Plan | Price |\n|---|---|\n| A | $10 |",
)
CHECK = (
    "To change the address of an order, open it, choose Edit and save.",
    "how do i cancel",
    "Error PPR-9087: the eight-digit code 4471-0093 has expired (see §4.2).",
    "请在三天内寄回商品，运费由我们承担。",
    "パスワードを忘れた場合は、設定から再発行してください。",
    "비밀번호를 세 번 틀리면 계정이 잠깁니다.",
    "أين أجد رقم الطلب؟",
    "מתי יגיע המשלוח שלי?",
    "मेरा बिल इतना अधिक क्यों है?",
    "หากต้องการยกเลิก โปรดติดต่อศูนย์บริการ",
    "Ποιο είναι το ωράριο λειτουργίας;",
    "Wie lange dauert die Überweisung auf mein Konto? Bis zu drei Werktage.",
    "Чтобы вернуть товар, сохраните чек. " * 12,
    "Opening hours | Monday | 9-17\nOpening hours | Saturday | 10-14\n" * 16,
)
