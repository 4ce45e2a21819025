"""Other products' doors, below /integrations/."""

from __future__ import annotations

from django.urls import path

from voiceapi.peers.dify import RetrievalView
from voiceapi.peers.functions import FunctionToolsView
from voiceapi.peers.vapi import KnowledgeBaseView

app_name = "peers"
urlpatterns = [
    path("dify/retrieval", RetrievalView.as_view(), name="dify"),
    path("openai/tools", FunctionToolsView.as_view(), name="functions"),
    path("vapi/<str:kid>/<str:organization>/<str:agent>", KnowledgeBaseView.as_view(), name="vapi"),
]
